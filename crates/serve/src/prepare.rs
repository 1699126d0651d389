//! Making documents before somebody asks for them.
//!
//! The history of a long time takes a second to make. So a low-priority thread makes documents that
//! take long when the service starts, when it has received something, and when a reader's request
//! shows that the results have changed. It waits while something is measured on this machine.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use store::Store;

use crate::Error;
use crate::live::NICE;
use crate::service::{Service, pack};

/// How often the thread checks whether a measurement that it waits for has ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes documents in a thread of its own, until the service ends.
pub(crate) fn prepare(service: &Arc<Service>) {
    if service.prepared.is_none() {
        return;
    }
    let service = Arc::clone(service);
    let work = move || {
        let _ = rustix::process::nice(NICE);
        while !service.news.has_ended() {
            let again = make(&service).unwrap_or_else(|error| {
                // Who asks has to wait, that is all.
                eprintln!("could not prepare pages: {error}");
                None
            });
            service.news.wait(again);
        }
    };
    let _ = thread::Builder::new().name("pages".to_owned()).spawn(work);
}

/// Makes what is missing, and forgets what nobody can ask for any more. If something is measured,
/// returns the time after which to go on.
fn make(service: &Service) -> Result<Option<Duration>, Error> {
    let Some(prepared) = &service.prepared else { return Ok(None) };
    if (prepared.measuring)() {
        return Ok(Some(PATIENCE));
    }
    let store = Store::open_read_only(&service.results())?;
    let catalog = service.renewed(&store)?;
    let wanted: Vec<_> = catalog.entries().filter(|(_, entry)| entry.takes_long()).collect();
    prepared.retain(&wanted.iter().map(|(_, entry)| entry.mark.as_str()).collect());
    for (_, entry) in wanted.into_iter().filter(|(_, entry)| !prepared.has(&entry.mark)) {
        if service.news.has_ended() {
            break;
        }
        if (prepared.measuring)() {
            return Ok(Some(PATIENCE));
        }
        // One that can't be made is left to who asks: its experiment may have just been removed.
        if let Ok(content) = catalog.make(&store, entry) {
            prepared.add(&entry.mark, &pack(&content)?)?;
        }
    }
    Ok(None)
}
