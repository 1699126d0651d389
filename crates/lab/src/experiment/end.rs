//! Why an adaptive run has ended, for people and for the store.

use std::time::Duration;

use metrics::counted;
use plan::format_duration;
use store::Warning;

use crate::experiment::standing::{Tally, list};

/// How a budget was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// The time used.
    pub used: Duration,
    /// The time that the next block would have taken.
    pub next: Option<Duration>,
    /// The budget.
    pub budget: Duration,
}

/// Why an adaptive run has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// Nothing is left that further blocks could decide.
    Decided,
    /// There are as many blocks as the plan allows.
    Limit,
    /// The budget is spent.
    Budget(Time),
    /// The rest of the budget would decide nothing.
    OutOfReach,
}

impl End {
    /// The code and text that are stored and shown.
    pub fn warning(self, tally: &Tally, blocks: u32) -> Warning {
        let Tally { all, narrow, open, unjudged } = tally;
        let blocks = counted(blocks as usize, "block");
        let (code, text) = match self {
            End::Decided if *all == 0 => (
                "nothing-to-compare",
                format!("the run ended after {blocks}: there was nothing to compare"),
            ),
            End::Decided if unjudged.is_empty() => {
                let precise = match narrow {
                    0 => String::new(),
                    some => format!(", or as precise as asked ({some} of {all}),"),
                };
                ("all-decided", format!("every comparison was decided{precise} after {blocks}"))
            }
            End::Decided => (
                "not-all-judged",
                format!(
                    "the run ended after {blocks}, with {} of {all} comparisons decided",
                    tally.decided()
                ),
            ),
            End::Limit => (
                "block-limit",
                format!(
                    "the run ended at its limit of {blocks} with undecided comparisons: {}",
                    list(open)
                ),
            ),
            End::OutOfReach => (
                "out-of-reach",
                format!(
                    "the run ended after {blocks}, before its budget was spent: the rest would \
                     not decide {}",
                    list(open)
                ),
            ),
            End::Budget(time) => {
                let next = time.next.map_or(String::new(), |next| {
                    format!(", and the next block would have taken about {}", rounded(next))
                });
                let open = match &open[..] {
                    [] if unjudged.is_empty() => "nothing was undecided".to_owned(),
                    [] => format!("{} of {all} comparisons were decided", tally.decided()),
                    open => format!("undecided: {}", list(open)),
                };
                let used = rounded(time.used.min(time.budget));
                let budget = format_duration(time.budget);
                let text = format!(
                    "the run ended after {blocks}: of its budget of {budget} it had used {used}{next}; {open}"
                );
                ("budget-spent", text)
            }
        };
        let rest = match &unjudged[..] {
            [] => String::new(),
            unjudged => format!("; {} can't be judged: {}", unjudged.len(), list(unjudged)),
        };
        Warning::new(code, text + &rest)
    }
}

/// A time for people, with seconds only where they matter.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let step = if seconds < 600.0 { 1.0 } else { 60.0 };
    format_duration(Duration::from_secs_f64((seconds / step).round() * step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("b s{n} ±1.0%")).collect()
    }

    #[test]
    fn the_end_is_told_with_its_reason() {
        let with = |open, unjudged: &[&str]| Tally {
            all: 5,
            narrow: 0,
            open,
            unjudged: unjudged.iter().map(|text| (*text).to_owned()).collect(),
        };
        let told = |end: End, open| end.warning(&with(open, &[]), 9).text;
        assert_eq!(told(End::Decided, vec![]), "every comparison was decided after 9 blocks");
        let narrow = Tally { narrow: 2, ..with(vec![], &[]) };
        assert_eq!(
            End::Decided.warning(&narrow, 9).text,
            "every comparison was decided, or as precise as asked (2 of 5), after 9 blocks"
        );
        assert_eq!(
            told(End::Limit, open(2)),
            "the run ended at its limit of 9 blocks with undecided comparisons: b s0 ±1.0%, b s1 ±1.0%"
        );
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let time = Time { used: minutes(115), next: Some(minutes(12)), budget: minutes(120) };
        assert_eq!(
            told(End::Budget(time), open(1)),
            "the run ended after 9 blocks: of its budget of 2h it had used 1h55m, and the next block would have \
             taken about 12m; undecided: b s0 ±1.0%"
        );
        let over = Time { used: minutes(125), next: None, budget: minutes(120) };
        assert_eq!(
            told(End::Budget(over), vec![]),
            "the run ended after 9 blocks: of its budget of 2h it had used 2h; nothing was undecided"
        );
        let idle = &["c l.x (c did nothing in 1 of 9 blocks (2), but a did)"];
        let some = End::Decided.warning(&with(vec![], idle), 9);
        assert_eq!(some.code, "not-all-judged");
        assert_eq!(
            some.text,
            format!(
                "the run ended after 9 blocks, with 4 of 5 comparisons decided; 1 can't be judged: {}",
                idle[0]
            )
        );
        for end in [End::Limit, End::OutOfReach] {
            let text = end.warning(&with(open(1), idle), 9).text;
            assert!(
                text.ends_with(&format!("b s0 ±1.0%; 1 can't be judged: {}", idle[0])),
                "{text}"
            );
        }
        let text = End::Budget(over).warning(&with(vec![], idle), 9).text;
        assert!(
            text.contains("2h; 4 of 5 comparisons were decided; 1 can't be judged: c"),
            "{text}"
        );
        let nothing = End::Decided.warning(&Tally::default(), 9).text;
        assert_eq!(nothing, "the run ended after 9 blocks: there was nothing to compare");
    }

    #[test]
    fn times_are_rounded() {
        assert_eq!(rounded(Duration::from_millis(59_600)), "1m");
        assert_eq!(rounded(Duration::from_secs(7_199)), "2h");
        assert_eq!(rounded(Duration::from_millis(90)), "0s");
    }
}
