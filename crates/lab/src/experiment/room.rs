//! The room in a budget: a bound that follows from the plan alone, and the figures of the first
//! block.

use std::time::Duration;

use judge::{ENOUGH_BLOCKS, SHORTEST};
use metrics::counted;
use plan::{Pairing, Plan, Sequence, format_duration};

use crate::error::Error;
use crate::experiment::standing::list;
use crate::trial::step::LEAD_TIME;

/// Part of its planned time that a step in slices takes in any case. It ends with its last whole
/// round, and rounds differ in length: of slices of 160, 320 and 640 ms, the longest mix for short
/// steps, all that fits into the shortest step may be one of 160 ms.
const SURE_IN_SLICES: f64 = 0.3;
/// Part of the restarts for a verdict that all comparisons have in any case: where there is no room
/// for six, a run that designs itself drops none before its first look, after three restarts
/// ([`judge::Looks::within`]).
const SURE_OF_RESTARTS: f64 = 0.5;
/// A budget to suggest has room for blocks that take this much longer than those so far.
const RESERVE: f64 = 1.25;

/// Checks before anything is fetched or started that the plan can come to a verdict within its
/// budget. Returns what to say if it probably can't.
///
/// # Errors
/// [`Error::Budget`] if it can't on any machine: not even the times that the plan or steelyard
/// itself sets fit into the budget.
pub fn check(plan: &Plan) -> Result<Option<String>, Error> {
    let Some(budget) = plan.budget else { return Ok(None) };
    let least = f64::from(blocks_needed(plan)) * least_block(plan);
    if budget.as_secs_f64() >= least {
        return Ok(None);
    }
    let (needed, sure) = (needed(plan, least), least * sure(plan));
    let budget_text = format_duration(budget);
    let more = upward(Duration::from_secs_f64(least));
    if budget.as_secs_f64() < sure {
        let remedy = remedy(plan, &more);
        return Err(Error::Budget { budget: budget_text, needed, remedy });
    }
    Ok(Some(format!(
        "{needed}; a budget of {budget_text} will probably decide nothing (--budget {more} is the \
         least that can)"
    )))
}

/// The sentence about a budget before the first block, if no earlier experiment tells more.
pub fn at_first(plan: &Plan) -> String {
    let least = f64::from(blocks_needed(plan)) * least_block(plan);
    let later = "after the first block, the run says what its budget can decide";
    if least < 1.0 { later.to_owned() } else { format!("{}; {later}", needed(plan, least)) }
}

/// The remedy for a budget that is too small; `least` is the smallest that may suffice.
fn remedy(plan: &Plan, least: &str) -> String {
    // A run that designs itself has no seconds to lower.
    let fewer =
        if plan.designs_itself() { "variants or steps" } else { "variants, steps or seconds" };
    format!("Set a larger budget (at least --budget {least}), or fewer {fewer}")
}

/// Blocks that a verdict needs; one if the plan can't have a verdict, because it compares nothing
/// or allows fewer blocks.
fn blocks_needed(plan: &Plan) -> u32 {
    let enough = ENOUGH_BLOCKS as u32;
    if plan.variants.len() > 1 && plan.block_limit() >= enough { enough } else { 1 }
}

/// Seconds that a block takes at least, as planned: those of its timed steps on each server, and
/// the time before each step in which its clients get ready. The start of a server is not counted
/// because an embedded engine opens in next to no time, nor is the load, which can be small.
fn least_block(plan: &Plan) -> f64 {
    let given = || plan.workload.least_seconds().map_or(0.0, f64::from);
    let seconds = if plan.designs_itself() { SHORTEST } else { given() };
    let lead = LEAD_TIME.as_secs_f64();
    let servers = plan.variants.len() as f64;
    let of = |sequence: &Sequence| {
        let measured = || sequence.steps.iter().skip(plan.loaded_steps(sequence));
        // What warms up may have a length of its own.
        let timed = measured().filter(|step| step.timed && !step.warm_up).count();
        let (timed, ready) = (timed as f64 * seconds, measured().count() as f64 * lead);
        match plan.pairing {
            Pairing::Blocks => servers * (timed + ready),
            // In slices, all servers get ready at the same time.
            Pairing::Slices | Pairing::Frozen | Pairing::Auto => servers * timed + ready,
        }
    };
    plan.workload.sequences().iter().map(of).sum()
}

/// Part of the least time that no run can do without.
fn sure(plan: &Plan) -> f64 {
    match plan.pairing {
        Pairing::Blocks => 1.0,
        _ if plan.designs_itself() => SURE_IN_SLICES * SURE_OF_RESTARTS,
        Pairing::Slices | Pairing::Frozen | Pairing::Auto => SURE_IN_SLICES,
    }
}

/// Says in words which blocks take `least` seconds.
fn needed(plan: &Plan, least: f64) -> String {
    let size = counted(plan.variants.len(), "variant");
    let steps = counted(judged_steps(plan).len(), "step");
    let time = downward(Duration::from_secs_f64(least));
    match blocks_needed(plan) {
        1 => format!("one block of {size} with {steps} takes more than {time}"),
        blocks => format!(
            "a verdict needs {}, and those of {size} with {steps} take more than {time}",
            so_many(blocks)
        ),
    }
}

/// The room in a budget after some blocks.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// The budget.
    pub budget: Duration,
    /// Blocks so far.
    pub done: u32,
    /// The time that these, and any load before them, have used.
    pub used: Duration,
    /// The time that another block takes.
    pub block: Duration,
}

impl Room {
    /// How many blocks it has room for, in all.
    fn blocks(&self) -> u32 {
        let left = self.budget.saturating_sub(self.used).as_secs_f64();
        // No block takes less than a millisecond.
        let further = left / self.block.as_secs_f64().max(1e-3);
        (further as u32).saturating_add(self.done)
    }

    /// How many blocks it has room for, and whether they are enough for a verdict.
    pub fn text(&self, plan: &Plan) -> String {
        self.lacking(plan).unwrap_or_else(|| {
            let blocks = self.blocks().min(plan.block_limit());
            let budget = format_duration(self.budget);
            format!("the budget of {budget} has room for about {}", so_many(blocks))
        })
    }

    /// A message that there is no room for a verdict, and which budget would have some; `None` if
    /// there is room.
    pub fn lacking(&self, plan: &Plan) -> Option<String> {
        let (room, needed) = (self.blocks(), blocks_needed(plan));
        if room >= needed {
            return None;
        }
        Some(format!(
            "the budget of {} has room for {}, but a verdict needs {needed}: {} will probably stay \
             undecided; {needed} take about {}",
            format_duration(self.budget),
            so_many(room),
            list(&judged_steps(plan)),
            upward(self.until(needed))
        ))
    }

    /// The budget with room for this many blocks.
    pub fn until(&self, blocks: u32) -> Duration {
        let further = blocks.saturating_sub(self.done);
        self.used + self.block.mul_f64(RESERVE * f64::from(further))
    }

    /// The budget with room for a verdict.
    pub fn enough(&self, plan: &Plan) -> Duration {
        self.until(blocks_needed(plan))
    }
}

/// A time for people: rounded up to ten seconds, or to a minute from ten minutes on.
pub fn upward(time: Duration) -> String {
    format_duration(round_up(time))
}

/// The time that [`upward`] shows.
pub fn round_up(time: Duration) -> Duration {
    let seconds = time.as_secs_f64().ceil() as u64;
    Duration::from_secs(seconds.next_multiple_of(step(time)))
}

/// A time for people that something exceeds: rounded down as [`upward`] rounds up.
fn downward(time: Duration) -> String {
    let seconds = time.as_secs();
    let step = if seconds < 10 { 1 } else { step(time) };
    format_duration(Duration::from_secs(seconds / step * step))
}

/// Seconds to which a time is rounded.
fn step(time: Duration) -> u64 {
    if time < Duration::from_secs(600) { 10 } else { 60 }
}

/// The steps with a verdict, each once.
fn judged_steps(plan: &Plan) -> Vec<String> {
    let mut names = Vec::new();
    for sequence in plan.workload.sequences() {
        for (place, step) in sequence.steps.iter().enumerate() {
            let judged = !step.warm_up && !plan.only_prepares(&sequence, place);
            if judged && !names.contains(&step.key.name) {
                names.push(step.key.name.clone());
            }
        }
    }
    names
}

/// `6 blocks`.
fn so_many(blocks: u32) -> String {
    counted(blocks as usize, "block")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan with this many variants, with keys of the whole and the section of its workload.
    fn plan(variants: usize, keys: &str, workload: &str) -> Plan {
        let variants = (0..variants).map(|v| format!("[variants.v{v}]\ndbms = 'postgres@14.3'\n"));
        let text = format!("{keys}\n{}{workload}", variants.collect::<String>());
        Plan::parse(&text, None, "test").unwrap()
    }

    /// Its load is not measured.
    const QUERIES: &str = "[workload.insert]\nsteps = ['qr100']\n";
    const MINUTES: &str =
        "[workload.insert]\nsteps = ['l.i0', 'l.x', 'qr100']\nread_write_seconds = 60\n";

    fn refused(plan: &Plan) -> String {
        let error = check(plan).unwrap_err();
        assert!(error.is_request(), "{error}");
        error.to_string()
    }

    #[test]
    fn what_no_machine_can_do_is_refused() {
        // 6 · (1000 · 0.5 s + 20 ms).
        let of = |budget: &str| plan(1000, &format!("budget = '{budget}'"), QUERIES);
        let needed =
            "a verdict needs 6 blocks, and those of 1000 variants with 1 step take more than 50m";
        assert_eq!(
            refused(&of("1m")),
            format!(
                "the budget of 1m is too small: {needed}. Set a larger budget (at least --budget \
                 51m), or fewer variants or steps"
            )
        );
        // Comparisons may be dropped after half of the restarts, and slices end early.
        let doubt = format!(
            "{needed}; a budget of 8m will probably decide nothing (--budget 51m is the least that \
             can)"
        );
        assert_eq!(check(&of("8m")).unwrap(), Some(doubt));
        assert_eq!(check(&of("51m")).unwrap(), None);
    }

    #[test]
    fn six_blocks_of_the_given_seconds_must_fit() {
        // 6 · 2 · (60 s + 3 · 20 ms).
        let of = |keys: &str| plan(2, keys, MINUTES);
        let text = refused(&of("budget = '12m'"));
        let needed =
            "a verdict needs 6 blocks, and those of 2 variants with 3 steps take more than";
        assert!(text.contains(&format!("{needed} 12m. Set")), "{text}");
        assert_eq!(check(&of("budget = '13m'")).unwrap(), None);
        assert_eq!(check(&of("blocks = 6")).unwrap(), None, "no budget");
        // In slices it may be a little less.
        let sliced = check(&of("pairing = 'slices'\nbudget = '11m'")).unwrap();
        assert!(sliced.is_some_and(|doubt| doubt.contains("more than 12m; a budget of 11m")));
        assert!(refused(&of("pairing = 'slices'\nbudget = '3m'")).contains("12m"));
    }

    #[test]
    fn what_can_have_no_verdict_needs_time_for_one_block() {
        let few = |budget| plan(2, &format!("blocks = 2\nmax_blocks = 3\n{budget}"), MINUTES);
        assert_eq!(check(&few("budget = '3m'")).unwrap(), None);
        let text = refused(&few("budget = '2m'"));
        assert!(text.contains("one block of 2 variants with 3 steps takes more than 2m"), "{text}");
        assert_eq!(check(&plan(1, "budget = '2m'", MINUTES)).unwrap(), None);
    }

    fn room(budget: u64, used: u64, block: u64) -> Room {
        let [budget, used, block] = [budget, used, block].map(Duration::from_secs);
        Room { budget, done: 1, used, block }
    }

    #[test]
    fn what_is_left_after_the_first_block_tells_how_many_there_will_be() {
        let designed = plan(2, "budget = '2m'", QUERIES);
        // 30 s + 1.25 · 5 · 25 s.
        assert_eq!(
            room(120, 30, 25).lacking(&designed).as_deref(),
            Some(
                "the budget of 2m has room for 4 blocks, but a verdict needs 6: qr100 will \
                 probably stay undecided; 6 take about 3m10s"
            )
        );
        let none = room(120, 130, 25).text(&designed);
        assert!(none.contains("has room for 1 block, but a verdict needs 6"), "{none}");
        assert_eq!(room(155, 30, 25).lacking(&designed), None);
        let planned = plan(2, "blocks = 6\nbudget = '2h'", MINUTES);
        let text = room(7200, 130, 120).text(&planned);
        assert_eq!(text, "the budget of 2h has room for about 24 blocks", "its limit");
        let short = room(300, 130, 120).text(&planned);
        assert!(
            short.contains("2 blocks, but a verdict needs 6: l.i0, l.x, qr100 will"),
            "{short}"
        );
        // Without a verdict to come to, nothing is lacking.
        let alone = plan(1, "blocks = 6\nbudget = '5m'", MINUTES);
        let text = room(300, 130, 120).text(&alone);
        assert_eq!(text, "the budget of 5m has room for about 2 blocks");
        // 90 s + 1.25 · 3 · 25 s.
        let later = Room { done: 3, ..room(120, 90, 25) }.lacking(&designed);
        assert!(later.is_some_and(|text| {
            text.contains("has room for 4 blocks") && text.ends_with("6 take about 3m10s")
        }));
    }

    #[test]
    fn times_are_rounded_up() {
        let text = |ms| upward(Duration::from_millis(ms));
        assert_eq!(text(170_000), "2m50s");
        assert_eq!(text(170_001), "3m");
        assert_eq!(text(599_000), "10m");
        assert_eq!(text(601_000), "11m");
    }
}
