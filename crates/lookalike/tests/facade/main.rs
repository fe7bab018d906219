//! The library as a program uses it.

mod examples;
mod judgments;
mod truth;
