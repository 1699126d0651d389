//! Telling a service on another machine how far a run is (`run --push https://…`).

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use archive::Service;
use report::catalog::LiveRun;

/// A run tells at most so often: what it tells takes time on the machine that measures.
const PAUSE: Duration = Duration::from_secs(5);
/// It tells at least so often that it is still there; a service forgets it after three times this.
const SIGN: Duration = Duration::from_secs(30);

/// Tells from a thread of its own, which nothing waits for. A service that does not answer changes
/// nothing about the run.
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
    /// Not told yet.
    run: Option<LiveRun>,
    ended: bool,
}

impl Reporting {
    /// Reports to this service.
    pub fn to(service: Service) -> Reporting {
        let shared = Arc::<Shared>::default();
        let told = Arc::clone(&shared);
        let always = move || report(&told, &service);
        let thread = thread::Builder::new().name("reporting".to_owned()).spawn(always).ok();
        Reporting { shared, thread }
    }

    /// Tells this soon, unless there is something newer by then.
    pub fn tell(&self, run: &LiveRun) {
        let mut news = self.shared.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.run = Some(run.clone());
        self.shared.changed.notify_one();
    }
}

impl Drop for Reporting {
    fn drop(&mut self) {
        self.shared.news.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.shared.changed.notify_one();
        // Requests have a time limit.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn report(shared: &Shared, service: &Service) {
    let (mut last, mut text): (Option<LiveRun>, Vec<u8>) = (None, Vec::new());
    let mut due = Instant::now();
    loop {
        let mut news = shared.news.lock().unwrap_or_else(PoisonError::into_inner);
        while !news.ended {
            let now = Instant::now();
            let until = if news.run.is_some() { due } else { due + (SIGN - PAUSE) };
            // Before there was anything to tell, there is nothing to repeat.
            let nothing = news.run.is_none() && last.is_none();
            if until <= now && !nothing {
                break;
            }
            let wait = if nothing { SIGN } else { until - now };
            (news, _) =
                shared.changed.wait_timeout(news, wait).unwrap_or_else(PoisonError::into_inner);
        }
        let ended = news.ended;
        let new = news.run.take();
        drop(news);
        if ended {
            if let Some(run) = &last {
                let _ = service.tell(run.process, run.began_ms, None);
            }
            return;
        }
        if let Some(run) = new {
            text = serde_json::to_vec(&run).unwrap_or_default();
            last = Some(run);
        }
        if let Some(run) = &last {
            let _ = service.tell(run.process, run.began_ms, Some(&text));
        }
        due = Instant::now() + PAUSE;
    }
}
