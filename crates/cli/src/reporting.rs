//! Reporting to a service on another machine how far a run is (`run --push https://…`).

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use archive::{Error, SILENCE, Service};
use report::catalog::LiveRun;

/// Minimum time between reports: they take time on the machine that measures.
const PAUSE: Duration = Duration::from_secs(5);
/// Time after which the last report is repeated, as a sign of life.
const SIGN: Duration = Duration::from_secs(SILENCE.as_secs() / 3);
/// The thread that reports gives way to everything else.
const NICE: i32 = 19;

/// Reports from a thread of its own. A service that does not answer changes nothing about the run.
pub struct Reporting {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    news: Mutex<News>,
    changed: Condvar,
}

#[derive(Default)]
struct News {
    /// Not reported yet.
    run: Option<LiveRun>,
    ended: bool,
}

impl Reporting {
    /// Reports to this service.
    pub fn to(service: Service) -> Reporting {
        let shared = Arc::<Shared>::default();
        let news = Arc::clone(&shared);
        let work = move || {
            let _ = rustix::process::nice(NICE);
            report(&news, &service);
        };
        let thread = thread::Builder::new().name("reporting".to_owned()).spawn(work).ok();
        Reporting { shared, thread }
    }

    /// Reports this soon, unless there is something newer by then.
    pub fn tell(&self, run: &LiveRun) {
        self.shared.news.lock().unwrap_or_else(PoisonError::into_inner).run = Some(run.clone());
        self.shared.changed.notify_one();
    }
}

impl Drop for Reporting {
    /// Waits until the end is reported, or a service has not answered for some seconds.
    fn drop(&mut self) {
        self.shared.news.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Reports until the run ends, or the service refuses it: another report would be refused, too, and
/// a service does not listen to an address from which wrong tokens come.
fn report(shared: &Shared, service: &Service) {
    let (mut last, mut text): (Option<LiveRun>, Vec<u8>) = (None, Vec::new());
    let (mut due, mut heard) = (Instant::now(), false);
    loop {
        let news = next(shared, due, last.is_some());
        if news.ended {
            if let Some(run) = last.filter(|_| heard) {
                let _ = service.report(run.process, run.began_ms, None);
            }
            return;
        }
        if let Some(run) = news.run {
            text = serde_json::to_vec(&run).unwrap_or_default();
            last = Some(run);
        }
        if let Some(run) = &last {
            let reported = service.report(run.process, run.began_ms, Some(&text));
            if matches!(reported, Err(Error::Refused { .. })) {
                return;
            }
            heard = reported.is_ok();
        }
        due = Instant::now() + PAUSE;
    }
}

/// Waits until there is something to report and it is `due`, or the last report has to be repeated.
fn next(shared: &Shared, due: Instant, reported: bool) -> News {
    let mut news = shared.news.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let now = Instant::now();
        let until = match (&news.run, reported) {
            (Some(_), _) => Some(due),
            (None, true) => Some(due + SIGN - PAUSE),
            (None, false) => None,
        };
        let left = until.map_or(SIGN, |until| until.saturating_duration_since(now));
        if news.ended || left.is_zero() {
            return std::mem::take(&mut *news);
        }
        let waited = shared.changed.wait_timeout(news, left);
        news = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}
