//! The cost of threads, according to the kernel.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// CPU time and context switches of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadCost {
    pub user_us: u64,
    pub system_us: u64,
    pub switches: u64,
}

impl ThreadCost {
    /// The cost of the calling thread since it began.
    pub fn now() -> ThreadCost {
        ThreadCost::of(UsageWho::RUSAGE_THREAD)
    }

    /// The cost of `who`, according to the kernel.
    pub fn of(who: UsageWho) -> ThreadCost {
        let Ok(usage) = getrusage(who) else { return ThreadCost::default() };
        ThreadCost {
            user_us: usage.user_time().num_microseconds() as u64,
            system_us: usage.system_time().num_microseconds() as u64,
            switches: (usage.voluntary_context_switches() + usage.involuntary_context_switches())
                as u64,
        }
    }

    /// Starts or stops counting the cost of the calling thread. `since` is when it began to count;
    /// `None` while it doesn't.
    #[inline]
    pub fn count(&mut self, since: &mut Option<ThreadCost>, counts: bool) {
        match (*since, counts) {
            (Some(earlier), false) => {
                self.add_since(earlier);
                *since = None;
            }
            (None, true) => *since = Some(ThreadCost::now()),
            _ => {}
        }
    }

    pub fn add_since(&mut self, earlier: ThreadCost) {
        self.add(earlier, ThreadCost::now());
    }

    pub fn add(&mut self, earlier: ThreadCost, now: ThreadCost) {
        self.user_us += now.user_us.saturating_sub(earlier.user_us);
        self.system_us += now.system_us.saturating_sub(earlier.system_us);
        self.switches += now.switches.saturating_sub(earlier.switches);
    }
}
