//! Making documents before somebody asks for them.
//!
//! A history of years takes most of a second to make. So a thread makes documents that take long as
//! soon as there are new results, gives way to everything else, and waits while something is
//! measured on this machine.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use store::Store;
use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::Error;
use crate::live::{Live, NICE};
use crate::service::{Service, pack};

/// While something is measured, the thread looks so often whether that has ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// What became of an attempt to make all that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    All,
    /// Something is measured.
    Waits,
}

/// Makes documents in a thread of its own, until the service ends.
pub(crate) fn prepare(service: &Arc<Service>, runtime: Handle) {
    if service.prepared.is_none() {
        return;
    }
    let service = Arc::clone(service);
    let always = move || {
        let _ = rustix::process::nice(NICE);
        let mut runs = service.live.as_ref().map(Live::follow);
        while !service.has_ended() {
            // A failure costs only time: who asks has to wait.
            let made = make(&service).unwrap_or(Made::All);
            runtime.block_on(async {
                let runs = async {
                    match &mut runs {
                        Some(runs) => runs.changed().await.is_ok(),
                        None => std::future::pending().await,
                    }
                };
                let later = async {
                    match made {
                        Made::Waits => sleep(PATIENCE).await,
                        Made::All => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = service.news.notified() => {}
                    _ = runs => {}
                    () = later => {}
                }
            });
        }
    };
    let _ = thread::Builder::new().name("pages".to_owned()).spawn(always);
}

/// Makes what is missing, and forgets what nobody can ask for any more.
fn make(service: &Service) -> Result<Made, Error> {
    let Some(prepared) = &service.prepared else { return Ok(Made::All) };
    if (prepared.measuring)() {
        return Ok(Made::Waits);
    }
    let store = Store::open_read_only(&service.results())?;
    let catalog = service.renewed(&store)?;
    let wanted: Vec<_> = catalog.entries().filter(|(_, entry)| entry.takes_long()).collect();
    prepared.retain(&wanted.iter().map(|(_, entry)| entry.mark.as_str()).collect());
    for (_, entry) in wanted {
        if service.has_ended() {
            break;
        }
        if (prepared.measuring)() {
            return Ok(Made::Waits);
        }
        if !prepared.has(&entry.mark) {
            prepared.add(&entry.mark, &pack(&catalog.make(&store, entry)?)?)?;
        }
    }
    Ok(Made::All)
}
