//! Search engines from outside: their answers against a plain scan of the same pages, their limits and their faults.

mod caller;
mod common;
mod contract;
mod http;
mod omega;
