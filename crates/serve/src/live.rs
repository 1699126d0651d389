//! The runs under way: what they tell, whenever it changes, and stopping them.
//!
//! A run writes what it tells of itself to the folder [`site::live`] of the results directory. The
//! kernel tells the service of changes there, from its first watcher on; nothing polls. Runs of
//! other machines report by requests.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use archive::SILENCE;
use axum::body::Bytes;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use site::live::{LiveDocument, LiveRun};
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use crate::reported::Reported;
use crate::start::Starter;

/// Changes within this time are told together. A run that was killed has mostly released its lock
/// by then,
const SOON: Duration = Duration::from_millis(50);
/// and surely after so many milliseconds, when the service looks once more.
const LATER: u16 = 2000;
/// Reports of other machines within this time are told together.
const TOGETHER: Duration = Duration::from_secs(1);
/// The thread that looks gives way to everything else.
pub(crate) const NICE: i32 = 19;

/// The runs under way in a results directory.
#[derive(Debug)]
pub(crate) struct Live {
    known: Arc<Known>,
    /// True once somebody wanted to know, and the folder is watched.
    watched: Mutex<bool>,
    /// A run of another machine has reported.
    changed: Arc<Notify>,
    /// True once watchers are told of such runs.
    telling: AtomicBool,
    /// Runs that were asked to end, by process and beginning.
    stopped: Mutex<BTreeSet<(u32, i64)>>,
}

/// What is known of them.
#[derive(Debug)]
struct Known {
    results: PathBuf,
    /// Starts others, if that is allowed.
    starter: Option<Starter>,
    /// Runs of other machines.
    reported: Reported,
    /// What was told last, as an event.
    told: watch::Sender<Bytes>,
    /// Whose turn it is to look and tell.
    turn: Mutex<()>,
}

impl Known {
    fn document(&self) -> LiveDocument {
        let plans = self.starter.as_ref().map(Starter::plans);
        let mut runs = site::live::runs(&self.results).runs;
        runs.extend(self.reported.runs(Instant::now()));
        LiveDocument { plans, ..LiveDocument::of_service(runs) }
    }

    /// Tells all watchers what there is, if it is news.
    fn renew(&self) {
        // What was read later is told later.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let text = serde_json::to_string(&self.document()).unwrap_or_default();
        let event = Bytes::from(format!("data: {text}\n\n"));
        self.told.send_if_modified(|known| {
            let news = *known != event;
            if news {
                *known = event;
            }
            news
        });
    }
}

impl Live {
    /// Those of a results directory.
    pub(crate) fn of(results: PathBuf, starter: Option<Starter>) -> Live {
        let (told, turn) = (watch::Sender::default(), Mutex::default());
        let reported = Reported::default();
        let known = Known { results, starter, reported, told, turn };
        Live {
            known: Arc::new(known),
            watched: Mutex::default(),
            changed: Arc::default(),
            telling: AtomicBool::default(),
            stopped: Mutex::default(),
        }
    }

    /// What there is.
    pub(crate) fn document(&self) -> LiveDocument {
        self.known.document()
    }

    /// What starts other runs, if that is allowed.
    pub(crate) fn starter(&self) -> Option<&Starter> {
        self.known.starter.as_ref()
    }

    /// Everything that is told from now on, beginning with what there is.
    pub(crate) fn follow(&self) -> watch::Receiver<Bytes> {
        let mut receiver = self.known.told.subscribe();
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if !*watched {
            match watch(&self.known) {
                Ok(()) => *watched = true,
                // Watchers see what there was when they came.
                Err(error) => eprintln!("runs under way can't be watched: {error}"),
            }
        }
        self.known.renew();
        receiver.mark_changed();
        receiver
    }

    /// A run of another machine reports. False if that machine has too many.
    pub(crate) fn report(&self, machine: &str, run: LiveRun) -> bool {
        let added = self.known.reported.add(machine, run);
        if added {
            self.tell_reported();
        }
        added
    }

    /// A run of another machine has ended.
    pub(crate) fn end(&self, machine: &str, process: u32, began_ms: i64) {
        self.known.reported.end(machine, process, began_ms);
        self.tell_reported();
    }

    /// Has watchers told of runs of other machines: soon after each report, and when such a run is
    /// not heard of any more.
    fn tell_reported(&self) {
        self.changed.notify_one();
        if self.telling.swap(true, Ordering::Relaxed) {
            return;
        }
        let (known, changed) = (Arc::clone(&self.known), Arc::clone(&self.changed));
        tokio::spawn(async move {
            loop {
                let some = !known.reported.runs(Instant::now()).is_empty();
                tokio::select! {
                    () = changed.notified() => sleep(TOGETHER).await,
                    () = sleep(SILENCE / 3), if some => {}
                }
                let renewing = Arc::clone(&known);
                let _ = tokio::task::spawn_blocking(move || renewing.renew()).await;
            }
        });
    }

    /// Asks a run of this machine to end, as Ctrl-C does. The second time, it would end at once, so
    /// it is asked only once.
    pub(crate) fn stop(&self, process: u32) -> Result<(), Unstopped> {
        let runs = site::live::runs(&self.known.results).runs;
        let run = runs.into_iter().find(|run| run.process == process).ok_or(Unstopped::Missing)?;
        if !site::live::is_here(&self.known.results, &run) {
            return Err(Unstopped::Elsewhere);
        }
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        if !stopped.insert((process, run.began_ms)) {
            return Ok(());
        }
        let pid = i32::try_from(process).map_err(|_| Unstopped::Missing)?;
        kill(Pid::from_raw(pid), Signal::SIGINT).map_err(|_| {
            stopped.remove(&(process, run.began_ms));
            Unstopped::Elsewhere
        })
    }
}

/// Why a run was not asked to end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unstopped {
    Missing,
    Elsewhere,
}

/// Has the kernel tell of changes in the folder, which a thread tells all watchers, if there are
/// any.
fn watch(known: &Arc<Known>) -> io::Result<()> {
    let folder = site::live::folder(&known.results);
    fs::create_dir_all(&folder)?;
    let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    // What is told is renamed, and the lock of a run that ends is closed and mostly removed.
    let told = WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE | WatchFlags::DELETE;
    inotify::add_watch(&changes, &folder, told)?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(&changes, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
    let known = Arc::clone(known);
    let tell = move || {
        let _ = rustix::process::nice(NICE);
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(changes, &mut buffer);
        let mut until = EpollTimeout::NONE;
        loop {
            match epoll.wait(&mut [EpollEvent::empty()], until) {
                Ok(0) => until = EpollTimeout::NONE,
                Ok(_) => {
                    thread::sleep(SOON);
                    while reader.next().is_ok() {}
                    until = LATER.into();
                }
                Err(nix::Error::EINTR) => continue,
                Err(_) => return,
            }
            if known.told.receiver_count() > 0 {
                known.renew();
            }
        }
    };
    thread::Builder::new().name("live".to_owned()).spawn(tell)?;
    Ok(())
}
