//! The `lookalike` command.

use std::process::ExitCode;

/// Many small buffers of many sizes, on many threads: this allocator suits that better than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The allocator's option for how many milliseconds freed memory is held back; the crate has no name for it.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    // Large documents go from thread to thread: what one lets go of must not stay resident while the next one takes as
    // much, or no memory cap would hold.
    // SAFETY: this sets a number that the allocator looks at when memory is freed, and touches nothing else.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) };
    lookalike_cli::run(std::env::args_os())
}
