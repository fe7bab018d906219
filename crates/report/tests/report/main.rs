//! The pages that are written, as a browser and a person find them.

mod example;
mod kinds;
mod markup;
mod page;
mod review;
mod study;
