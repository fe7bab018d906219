//! `lookalike dedup --plan`: what a run will take and find, from a sample of its input.
