//! Ctrl-C and the polite kill.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lookalike::corpus::write::abandon;
use lookalike::walk::Watch;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::console::print_error;
use crate::exit;

/// The time that the work has to reach its next document and end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// The first signal asks the work to end at the next document. Work that cannot, since it waits for its input or
/// has a large document in hand, is ended after a moment; a second signal ends it at once. Either way unfinished
/// files are removed. `patient` work is not ended by time, but by a second signal only.
pub(crate) fn handle_signals(watch: &Arc<Watch>, patient: bool) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let watch = watch.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if watch.stop.swap(true, Ordering::Relaxed) {
                abort();
            }
            if patient {
                continue;
            }
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                abort();
            });
        }
    });
    Ok(())
}

fn abort() -> ! {
    abandon();
    print_error("interrupted");
    std::process::exit(exit::INTERRUPTED.into())
}
