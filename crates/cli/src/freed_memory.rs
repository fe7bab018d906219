//! The time for which the allocator holds back memory that was freed.
//!
//! Memory that goes back to the system at once must be had from it again, page by page: about a tenth of the time of a
//! short run. Memory that is held back makes the process larger than what it uses, and no cap would hold: large documents
//! go from thread to thread, and what one lets go of would stay while the next one takes as much. So it is held back for a
//! moment while the process takes less than half of its cap, and only under caps of which the other half is more than all
//! threads can take in before it is looked at again and what was held back has gone.

use std::ffi::c_long;
use std::sync::Once;
use std::time::Duration;

use lookalike::engine::Settings;
use lookalike::engine::job::resident_memory;

/// The allocator's option for how many milliseconds freed memory is held back; the crate has no name for it.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Milliseconds for which memory is held back.
const HOLD: c_long = 100;

/// The time between two looks at the memory of the process.
const INTERVAL: Duration = Duration::from_millis(20);

/// Bytes that a thread can take in while memory is held back and until the next look: pages come at some 2 GB a second.
const TAKEN_BY_THREAD: u64 = 256 << 20;

/// Lets all memory go back at once.
pub fn release_at_once() {
    set(0);
}

/// Holds memory back from now on whenever the process is far from the cap of its work.
pub(crate) fn hold_while_small(settings: &Settings) {
    static BEGUN: Once = Once::new();
    let (cap, threads) = (settings.memory, settings.threads);
    if milliseconds(0, cap, threads) == 0 {
        return;
    }
    BEGUN.call_once(|| {
        // It ends with the process. Without it memory goes back at once, as before.
        let _ = std::thread::Builder::new().name("memory".to_owned()).spawn(move || {
            while let Some(resident) = resident_memory() {
                set(milliseconds(resident, cap, threads));
                std::thread::sleep(INTERVAL);
            }
            set(0);
        });
    });
}

/// Milliseconds for which memory may be held back in a process of this size.
fn milliseconds(resident: u64, cap: u64, threads: usize) -> c_long {
    let half = cap / 2;
    let roomy = half >= TAKEN_BY_THREAD.saturating_mul(threads as u64 + 1);
    if roomy && resident < half { HOLD } else { 0 }
}

fn set(milliseconds: c_long) {
    // SAFETY: this sets a number that the allocator looks at when memory is freed, and touches nothing else.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, milliseconds) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_held_back_only_far_below_a_large_cap() {
        let gib = 1 << 30;
        assert_eq!(milliseconds(0, 2 * gib, 2), HOLD);
        assert_eq!(milliseconds(gib, 2 * gib, 2), 0, "half of the cap is taken");
        assert_eq!(milliseconds(0, 2 * gib, 4), 0, "threads could take the other half");
        assert_eq!(milliseconds(0, 200 << 20, 1), 0);
        assert_eq!(milliseconds(0, u64::MAX, 1000), HOLD);
    }
}
