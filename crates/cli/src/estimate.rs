//! The time that a run has taken and will probably take, for its progress bars.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressState, ProgressStyle};

/// How long the whole experiment will probably take, as far as its last step showed. Nothing is
/// estimated while a step goes on: one of unknown duration would let the estimate grow without end.
#[derive(Clone, Default)]
pub struct Whole(Arc<Mutex<WholeTime>>);

#[derive(Default)]
struct WholeTime {
    /// Steps that an earlier run finished.
    kept: u64,
    seconds: f64,
}

impl Whole {
    /// A style in which `{time}` is the time so far and the estimate.
    pub fn style(&self, template: &str) -> ProgressStyle {
        let whole = self.clone();
        style(template).with_key("time", move |state: &ProgressState, out: &mut dyn fmt::Write| {
            // This fails only when the terminal is gone.
            let _ = out.write_str(&time(state.elapsed(), whole.seconds()));
        })
    }

    fn time(&self) -> MutexGuard<'_, WholeTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seconds(&self) -> f64 {
        self.time().seconds
    }

    /// Begins anew, with steps that are finished already.
    pub fn begins(&self, kept: u64) {
        *self.time() = WholeTime { kept, seconds: 0.0 };
    }

    /// Records that a step has ended.
    pub fn advanced(&self, elapsed: Duration, position: u64, length: Option<u64>) {
        let mut time = self.time();
        let done = position.saturating_sub(time.kept).max(1);
        let all = length.unwrap_or_default().saturating_sub(time.kept).max(done);
        time.seconds = elapsed.as_secs_f64() * all as f64 / done as f64;
    }
}

/// `21s of about 56s`; without an estimate that lies ahead, `21s so far`.
fn time(elapsed: Duration, whole: f64) -> String {
    let shown = |seconds: f64| plan::format_duration(Duration::from_secs_f64(seconds.floor()));
    let elapsed = elapsed.as_secs_f64();
    match whole > elapsed + 1.0 {
        true => format!("{} of about {}", shown(elapsed), shown(whole)),
        false => format!("{} so far", shown(elapsed)),
    }
}

/// Text after the time so far of a step that has a limit: `, at most 60s`.
pub fn limit(at_most: Duration) -> String {
    let seconds = Duration::from_secs_f64(at_most.as_secs_f64().ceil());
    format!(", at most {}", plan::format_duration(seconds))
}

/// A style of a bar.
pub fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_stays_what_the_last_step_showed() {
        let whole = Whole::default();
        let seconds = Duration::from_secs;
        assert_eq!(time(seconds(21), whole.seconds()), "21s so far", "before any step has ended");
        whole.advanced(seconds(28), 2, Some(4));
        assert_eq!(time(seconds(30), whole.seconds()), "30s of about 56s");
        assert_eq!(time(seconds(81), whole.seconds()), "1m21s so far", "a step takes long");
        whole.begins(10);
        whole.advanced(seconds(10), 11, Some(14));
        assert_eq!(time(seconds(10), whole.seconds()), "10s of about 40s", "steps kept took none");
    }

    #[test]
    fn a_limit_is_told() {
        assert_eq!(limit(Duration::from_millis(59_400)), ", at most 1m");
        assert_eq!(limit(Duration::from_millis(20_100)), ", at most 21s");
    }
}
