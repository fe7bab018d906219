//! Work on a thread of its own, while the interpreter is free: signals are heard, progress is told.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use lookalike::walk::Watch;
use pyo3::prelude::*;

use crate::errors::Failure;

/// The time between two looks for signals and reports of progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Does `work`, and waits for it. A signal, or an exception of the callback, stops it; it is then raised when the work has ended.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let mut reported = None;
    std::thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let worker = scope.spawn(|| {
            // Dropped at the end, also of a panic: whoever waits is told at once.
            let _done = done;
            work(&watch)
        });
        let mut problem: Option<PyErr> = None;
        // The receiver goes to and fro: waiting must not hold the interpreter, and it belongs to one thread at a time.
        let mut ended = ended;
        loop {
            let (waited, receiver) = py.detach(move || (ended.recv_timeout(POLL_INTERVAL), ended));
            ended = receiver;
            if waited != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if problem.is_none()
                && let Err(error) =
                    py.check_signals().and_then(|()| report_progress(progress, &watch, &mut reported))
            {
                watch.stop.store(true, Ordering::Relaxed);
                problem = Some(error);
            }
        }
        let result = py.detach(|| worker.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match problem {
            Some(problem) => Err(problem),
            None => {
                // A signal that came at the very end.
                py.check_signals()?;
                let value = result?;
                report_progress(progress, &watch, &mut reported)?;
                Ok(value)
            }
        }
    })
}

/// Calls the callback, if something moved.
fn report_progress(
    progress: Option<&Bound<'_, PyAny>>,
    watch: &Watch,
    reported: &mut Option<(&'static str, u64)>,
) -> PyResult<()> {
    let Some((progress, (stage, _))) = progress.zip(watch.stage()) else { return Ok(()) };
    let counter = if stage.reads { &watch.bytes } else { &watch.steps };
    let done = counter.load(Ordering::Relaxed);
    if reported.replace((stage.name, done)) != Some((stage.name, done)) {
        progress.call1((stage.name, done, stage.total))?;
    }
    Ok(())
}
