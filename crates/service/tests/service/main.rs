//! A real server on the loopback and a real client: every promise of the service, from outside.

mod access;
mod documents;
mod jobs;
mod limits;
mod pages;
mod streams;
mod support;
