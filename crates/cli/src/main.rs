//! The `lookalike` command.

use std::process::ExitCode;

/// Many small buffers of many sizes, on many threads: this allocator suits that better than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    lookalike_cli::freed_memory::release_at_once();
    lookalike_cli::run(std::env::args_os())
}
