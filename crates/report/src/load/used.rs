//! The time that the trials of an experiment have taken.

use std::time::Duration;

use store::Trial;

/// The time covered by spans, given as start and end in milliseconds since any moment; overlapping
/// time counts once.
pub fn covered(mut spans: Vec<(i64, i64)>) -> Duration {
    spans.sort_unstable();
    let mut sum = 0;
    let mut until = i64::MIN;
    for (begin, end) in spans {
        sum += (end - begin.max(until)).max(0);
        until = until.max(end);
    }
    Duration::from_millis(u64::try_from(sum).unwrap_or(0))
}

/// The time of all trials up to a block.
pub fn time_used(trials: &[Trial], block: u32) -> Duration {
    let until = trials.iter().filter(|trial| trial.block <= block);
    covered(until.filter_map(|trial| Some((trial.started_ms, trial.ended_ms?))).collect())
}

/// The looks of a plan: after the numbers of blocks it sets, or, if it designs itself within a
/// budget, by the time that its trials have used.
pub fn looks(plan: &plan::Plan, trials: &[Trial]) -> judge::Looks {
    let Some(budget) = plan.budget.filter(|_| plan.designs_itself()) else {
        return judge::Looks::new(&plan.looks());
    };
    let ended = trials.iter().filter(|trial| trial.ended_ms.is_some());
    let blocks = ended.map(|trial| trial.block).max().unwrap_or(0);
    let used: Vec<f64> = (1..=blocks).map(|block| time_used(trials, block).as_secs_f64()).collect();
    judge::Looks::within(budget.as_secs_f64(), &used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_once() {
        let covered = |spans: &[(i64, i64)]| covered(spans.to_vec()).as_millis();
        assert_eq!(covered(&[]), 0);
        assert_eq!(covered(&[(0, 10), (20, 30)]), 20);
        assert_eq!(covered(&[(20, 30), (0, 25), (5, 10)]), 30, "servers that ran together");
        assert_eq!(covered(&[(10, 5)]), 0, "a clock that was set back");
    }
}
