//! `lookalike census` on engines of known size.
