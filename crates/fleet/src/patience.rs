//! Waiting for an address that can't be reached.

use std::thread;
use std::time::{Duration, Instant};

/// For so long the address is asked again if it can't be reached.
const PATIENCE: Duration = Duration::from_secs(600);

/// What `attempt` returns; for ten minutes it is tried again if it fails, unless the error
/// `is_final`.
///
/// # Errors
/// Its last one.
pub fn patiently<T, E>(
    is_final: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(error) if !is_final(&error) && begin.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_secs(2));
            }
            result => return result,
        }
    }
}
