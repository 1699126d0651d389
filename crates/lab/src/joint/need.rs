//! The CPU time that a server and its clients needed in a step, regardless of what other programs
//! left them.

use metrics::{CPU_BOUND, CPU_OTHERS, CPU_SHARE, CPU_WANTED, Metric, STEAL, counted};
use store::StepRecord;
use workload::Step;

use crate::observe::figures::client_cpus;

/// The metrics that it follows from.
pub const METRICS: [&Metric; 4] = [&CPU_SHARE, &CPU_WANTED, &CPU_OTHERS, &STEAL];

/// The CPU time that a server and its clients needed in a block. Shares are of what synchronous
/// clients can use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// CPU time, as a share of what a hypervisor left.
    used: f64,
    /// Time in which they could have run, but waited for a CPU.
    waited: f64,
    /// CPUs that other programs used.
    others: f64,
}

impl Need {
    /// The need that follows from the values of [`METRICS`]; NaN stands for an unknown one.
    pub fn of([share, wanted, others, steal]: [f64; 4]) -> Need {
        let known = |value: f64| value.max(0.0);
        let used = share / (1.0 - known(steal));
        Need { used, waited: known(wanted), others: known(others) }
    }

    /// The need that follows from a record.
    pub fn of_record(record: &StepRecord) -> Need {
        Need::of(METRICS.map(|metric| record.metric(metric.name).unwrap_or(f64::NAN)))
    }

    /// True if the CPU time is known.
    pub fn is_known(&self) -> bool {
        self.used.is_finite()
    }

    /// The share that they used or would have used if others had not had the CPUs. They also wait
    /// for each other, so what they waited counts up to what others used.
    fn share(&self, step: &Step) -> f64 {
        self.used + self.waited.min(self.others / client_cpus(step) as f64)
    }

    /// True if they needed most of what they can use.
    pub fn is_bound(&self, step: &Step) -> bool {
        self.share(step) >= CPU_BOUND
    }

    /// Says what limits a step, according to blocks called `when` (`the first block`): the CPU or
    /// other programs, or else, as an error, neither.
    pub fn limit(&self, step: &Step, when: &str) -> Result<String, String> {
        let needed = |share| cpus_needed(step, share);
        if !self.is_bound(step) {
            let needed = needed(self.share(step));
            Err(format!(
                "it is not CPU-bound: in {when}, a server and its clients needed only {needed}"
            ))
        } else if self.used >= CPU_BOUND {
            let needed = needed(self.used);
            Ok(format!(
                "it is CPU-bound: in {when}, each server and its clients needed {needed} or more"
            ))
        } else {
            Ok(format!(
                "other programs used {:.1} CPUs: in {when}, a server and its clients had only {} and waited for more",
                self.others,
                needed(self.used)
            ))
        }
    }

    /// The CPUs needed, for people: `0.40 of 1 CPU`.
    pub fn text(&self, step: &Step) -> String {
        cpus_needed(step, self.share(step))
    }
}

/// The one of those known that needed the least.
pub fn least(needs: impl IntoIterator<Item = Need>, step: &Step) -> Option<Need> {
    let known = needs.into_iter().filter(Need::is_known);
    known.min_by(|a, b| a.share(step).total_cmp(&b.share(step)))
}

/// The one in the middle; of two, the one that needed less.
pub fn typical(needs: &[Need], step: &Step) -> Option<Need> {
    let mut sorted = needs.to_vec();
    sorted.sort_by(|a, b| a.share(step).total_cmp(&b.share(step)));
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

/// A share in CPUs, and how many CPUs the step's clients can keep busy: `0.93 of 1 CPU`. With a
/// server's work in the background it can be more than all of them.
fn cpus_needed(step: &Step, share: f64) -> String {
    let cpus = client_cpus(step);
    let all = counted(cpus, "CPU");
    if share >= 1.0 {
        format!("all of {all}")
    } else {
        format!("{:.2} of {all}", share * cpus as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Class;

    /// A step of one client.
    fn step() -> Step {
        Step::new("l.i0", 1, Class::INSERT, vec![workload::Stream::new(0, Class::INSERT)])
    }

    fn need(share: f64, wanted: f64, others: f64) -> Need {
        Need::of([share, wanted, others, f64::NAN])
    }

    #[test]
    fn what_other_programs_took_is_not_what_a_server_needs() {
        let limit = |need: Need| need.limit(&step(), "the first block");
        for (found, needed) in
            [(need(1.37, 0.1, 0.0), "all of 1 CPU"), (need(0.93, 0.5, 2.0), "0.93 of 1 CPU")]
        {
            let why = limit(found).unwrap();
            assert!(
                why.starts_with("it is CPU-bound")
                    && why.ends_with(&format!("needed {needed} or more")),
                "{why}"
            );
        }
        let crowded = limit(need(0.5, 0.48, 0.97)).unwrap();
        assert!(
            crowded.starts_with("other programs used 1.0 CPUs: in the first block"),
            "{crowded}"
        );
        assert!(crowded.contains("had only 0.50 of 1 CPU"), "{crowded}");
        // They waited for each other, not for other programs.
        let waits = limit(need(0.5, 0.48, 0.1)).unwrap_err();
        assert!(
            waits.starts_with("it is not CPU-bound") && waits.ends_with("only 0.60 of 1 CPU"),
            "{waits}"
        );
    }

    #[test]
    fn a_hypervisor_leaves_less_to_use() {
        assert!(Need::of([0.6, 0.0, 0.0, 0.2]).is_bound(&step()));
        assert!(!Need::of([0.6, 0.0, 0.0, 0.0]).is_bound(&step()));
    }

    #[test]
    fn the_middle_of_the_known_decides() {
        let needs = [0.9, 0.4, 0.8].map(|share| need(share, 0.0, 0.0));
        assert_eq!(typical(&needs, &step()), Some(needs[2]));
        assert_eq!(typical(&needs[..2], &step()), Some(needs[1]));
        assert_eq!(typical(&[], &step()), None);
        assert_eq!(least(needs, &step()), Some(needs[1]));
        assert_eq!(least([need(f64::NAN, 0.0, 0.0)], &step()), None);
    }
}
