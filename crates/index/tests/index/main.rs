//! An index from outside: changes, faults, and that it decides as a job does.

mod changes;
mod faults;
mod same_as_jobs;
mod support;
