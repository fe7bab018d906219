//! Real search engines, each against a plain scan of the same pages.

mod caller;
mod common;
mod contract;
mod http;
mod omega;
