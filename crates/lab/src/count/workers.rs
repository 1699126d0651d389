//! Tasks spread over threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::Error;

/// Has `workers` threads do `tasks`, each with `work`, and passes what they send to `take` on this
/// thread. Returns the results in the order of the tasks. After the first error, no further task
/// begins.
pub fn spread<T: Send, M: Send, R: Send>(
    workers: usize,
    tasks: Vec<T>,
    take: &mut dyn FnMut(M) -> Result<(), Error>,
    work: impl Fn(T, &Sender<M>) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let queue = Mutex::new(tasks.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let stop = AtomicBool::new(false);
    let end = |_: &Error| stop.store(true, Ordering::Relaxed);
    let serve = |sender: Sender<M>| -> Result<Vec<(usize, R)>, Error> {
        let mut done = Vec::new();
        while !stop.load(Ordering::Relaxed)
            && let Some((number, task)) = next()
        {
            done.push((number, work(task, &sender).inspect_err(end)?));
        }
        Ok(done)
    };
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        let serving: Vec<_> = (0..workers)
            .map(|_| (sender.clone(), &serve))
            .map(|(sender, serve)| scope.spawn(move || serve(sender)))
            .collect();
        drop(sender);
        let taken = receiver.into_iter().try_for_each(take).inspect_err(end);
        let mut done = Vec::new();
        for worker in serving {
            done.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        done.sort_by_key(|(number, _)| *number);
        taken.map(|()| done.into_iter().map(|(_, result)| result).collect())
    })
}
