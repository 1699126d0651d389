//! Signals to the thread that prepares documents.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Says that the results may have changed.
#[derive(Debug, Default)]
pub(crate) struct News {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    new: bool,
    ended: bool,
}

impl News {
    /// The results may have changed.
    pub(crate) fn tell(&self) {
        self.set(|state| state.new = true);
    }

    /// The service ends.
    pub(crate) fn end(&self) {
        self.set(|state| state.ended = true);
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// True if the service ends.
    pub(crate) fn has_ended(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ended
    }

    /// Waits for news, or for this time if there is a limit.
    pub(crate) fn wait(&self, limit: Option<Duration>) {
        let nothing = |state: &mut State| !state.new && !state.ended;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = match limit {
            None => self.changed.wait_while(state, nothing).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let waited = self.changed.wait_timeout_while(state, limit, nothing);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.new = false;
    }
}
