//! An index or a finished job over HTTP: an API for programs, pages for people.
//!
//! [`Source::open`] detects the contents of a folder and opens them; [`listen`] takes an address, and [`serve`] answers on it until
//! it is told to stop. Nothing here decides what is a near-duplicate: that is the work of the index and of the engine.
//!
//! - [`settings`]: limits, tokens, log format
//! - [`source`]: the data served; `store` is an index, `job` a finished job
//! - `server`: connections, from the first to the last
//! - `probe`: the question whether a service takes work
//! - `routes`: every address, and the access check before them
//! - `auth`, `sessions`: tokens of programs, cookies of people
//! - `pool`: threads for work that takes long; `body`: bodies of requests, within limits
//! - `api`: answers for programs; `openapi`: their description
//! - `pages`: answers for people
//! - `metrics`, `log`: figures and log lines for the operator

mod answer;
mod api;
mod app_state;
mod auth;
mod body;
mod error;
mod form;
mod job;
mod log;
mod metrics;
mod openapi;
mod pages;
mod pool;
mod probe;
mod routes;
mod server;
mod sessions;
pub mod settings;
pub mod source;
mod store;

pub use auth::{Tokens, exposure};
pub use error::ServiceError;
pub use probe::probe;
pub use routes::{RouteFacts, routes};
pub use server::{listen, serve};
pub use settings::{LogFormat, Settings};
pub use source::{OpenOptions, Source};
