//! The state shared by all requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Refusal;
use crate::metrics::{Limit, Metrics};
use crate::pool::Pool;
use crate::sessions::Sessions;
use crate::settings::Settings;
use crate::source::{Source, WorkerBuffers};
use crate::{ServiceError, log};

/// The state shared by all requests.
pub(crate) struct AppState {
    pub(crate) source: Arc<Source>,
    pub(crate) settings: Settings,
    pub(crate) sessions: Sessions,
    pub(crate) metrics: Metrics,
    pool: Pool,
    slots: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    stop: AtomicBool,
    requests: AtomicU64,
    /// True if only this machine can reach the service.
    pub(crate) loopback: bool,
}

/// A slot for a request at work; it is taken as long as this is held.
pub(crate) struct WorkSlot(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl AppState {
    pub(crate) fn new(source: Source, settings: Settings, loopback: bool) -> Result<Self, ServiceError> {
        let source = Arc::new(source);
        let for_workers = source.clone();
        let slots = settings.concurrency.max(1);
        // Streams come on top, and each has one task at a time.
        let streams = slots.div_ceil(2);
        let pool = Pool::start(settings.threads, slots + streams, settings.timeout, move || {
            for_workers.worker_buffers()
        })?;
        Ok(AppState {
            source,
            sessions: Sessions::default(),
            metrics: Metrics::default(),
            pool,
            slots: Arc::new(Semaphore::new(slots)),
            streams: Arc::new(Semaphore::new(streams)),
            stop: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            loopback,
            settings,
        })
    }

    /// Returns the number of a new request.
    pub(crate) fn next_request_number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Takes a slot for work, if one is free: requests beyond are refused and do not wait.
    pub(crate) fn work_slot(&self) -> Result<WorkSlot, Refusal> {
        self.acquire(&self.slots, "too many requests are at work; try again later")
    }

    /// Takes a slot for a stream, which may keep it for long.
    pub(crate) fn stream_slot(&self) -> Result<WorkSlot, Refusal> {
        self.acquire(&self.streams, "too many streams are open; try again later")
    }

    fn acquire(&self, slots: &Arc<Semaphore>, sentence: &str) -> Result<WorkSlot, Refusal> {
        slots.clone().try_acquire_owned().map(WorkSlot).map_err(|_| {
            self.metrics.refused(Limit::Busy);
            Refusal::busy(sentence, 1)
        })
    }

    /// Runs `work` on a thread of the pool, where it blocks no connection.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Source, &mut WorkerBuffers) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let source = self.source.clone();
        self.pool.run(move |worker| work(&source, worker)).await
    }

    /// True once the service was asked to end.
    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Asks all requests and streams to end.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the threads and closes the source.
    pub(crate) fn close(&self) -> Result<(), ServiceError> {
        self.pool.end();
        self.source.close()?;
        log::event(&self.settings, "ended");
        Ok(())
    }
}
