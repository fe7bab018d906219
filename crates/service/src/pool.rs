//! Threads for work that takes long: reading texts, sketching, comparing. The threads that hold connections never do any.
//!
//! There is one for each core unless told otherwise, each with buffers of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, TrySendError, bounded};
use tokio::sync::oneshot;

use crate::ServiceError;
use crate::answer::Refusal;
use crate::source::WorkerBuffers;

type Task = Box<dyn FnOnce(&mut WorkerBuffers) + Send>;

/// The threads, and the queue before them.
pub(crate) struct Pool {
    sender: Mutex<Option<Sender<Task>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    max_wait: Duration,
}

impl Pool {
    /// Starts `threads` threads, each with buffers of its own. No more than `queue_length` tasks wait, none longer than `max_wait`.
    pub(crate) fn start(
        threads: usize,
        queue_length: usize,
        max_wait: Duration,
        worker: impl Fn() -> WorkerBuffers,
    ) -> Result<Self, ServiceError> {
        let (sender, receiver) = bounded::<Task>(queue_length);
        let mut started = Vec::new();
        for _ in 0..threads.max(1) {
            let (receiver, mut worker) = (receiver.clone(), worker());
            let work = move || receiver.iter().for_each(|task| task(&mut worker));
            let thread = std::thread::Builder::new().name("work".to_owned()).spawn(work);
            started.push(thread.map_err(ServiceError::System)?);
        }
        Ok(Pool { sender: Mutex::new(Some(sender)), threads: Mutex::new(started), max_wait })
    }

    /// Does `work` on one of the threads.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WorkerBuffers) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (answer, answered) = oneshot::channel();
        let deadline = Instant::now() + self.max_wait;
        let task: Task = Box::new(move |worker| {
            // Nobody is left to read the answer of a request that went away, so nothing is done for it.
            if answer.is_closed() {
                return;
            }
            let result = match Instant::now() > deadline {
                true => Err(Refusal::busy("there is too much to do; try again later", 1)),
                false => catch_unwind(AssertUnwindSafe(|| work(worker))).unwrap_or_else(|_| Err(broken())),
            };
            let _ = answer.send(result);
        });
        let sender = self.sender.lock().ok().and_then(|sender| sender.clone());
        match sender.ok_or_else(Refusal::stopping)?.try_send(task) {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(broken())),
            Err(TrySendError::Full(_)) => Err(Refusal::busy("there is too much to do; try again later", 1)),
            Err(TrySendError::Disconnected(_)) => Err(Refusal::stopping()),
        }
    }

    /// Lets the threads finish what they have, and ends them.
    pub(crate) fn end(&self) {
        drop(self.sender.lock().map(|mut sender| sender.take()));
        let threads = self.threads.lock().map(|mut threads| std::mem::take(&mut *threads));
        for thread in threads.unwrap_or_default() {
            let _ = thread.join();
        }
    }
}

fn broken() -> Refusal {
    Refusal::failed("the service failed on this request; please report it")
}
