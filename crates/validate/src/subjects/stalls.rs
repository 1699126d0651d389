//! Stalls of a server whose load comes in slices: do the figures contain their cost?
//!
//! Clients with operations of random length move between two servers by a real timetable, and
//! [`drive::Route`] measures them, as in a run. One of the servers stalls. The truth is the cost
//! of its stalls for a server that has the load all the time.

use std::time::Duration;

use drive::{Moment, Route, Slices, Timetable};
use judge::restart_ratio;

use crate::{Findings, Outcomes as _, Random, Size, percent, simulate};

/// Length of a slice.
const SLICE: Duration = Duration::from_millis(20);
/// Mean seconds of an operation; they are exponentially distributed.
const OPERATION: f64 = 0.5e-3;
/// Length of a step.
const STEP: Duration = Duration::from_secs(40);
/// The stalling server.
const VARIANT: usize = 1;

/// When the variant stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stalls {
    Never,
    /// Each operation, with this chance.
    ByWork(f64),
    /// On average this many seconds after the previous stall, with or without load.
    ByTime(f64),
}

struct Scenario {
    name: &'static str,
    clients: usize,
    stalls: Stalls,
    /// Seconds that a stall lasts.
    length: f64,
}

/// A twentieth of the time is lost.
const fn by_time(name: &'static str, clients: usize, length: f64) -> Scenario {
    Scenario { name, clients, stalls: Stalls::ByTime(19.0 * length), length }
}

/// As much.
const fn by_work(name: &'static str, clients: usize, length: f64) -> Scenario {
    Scenario { name, clients, stalls: Stalls::ByWork(OPERATION / (19.0 * length)), length }
}

const SCENARIOS: [Scenario; 9] = [
    Scenario { name: "none", clients: 1, stalls: Stalls::Never, length: 0.0 },
    Scenario { name: "none, 4 clients", clients: 4, stalls: Stalls::Never, length: 0.0 },
    by_time("5 ms, by time", 1, 0.005),
    by_time("100 ms, by time", 1, 0.1),
    by_time("100 ms, by time, 4 clients", 4, 0.1),
    by_time("500 ms, by time", 1, 0.5),
    by_work("5 ms, by work", 1, 0.005),
    by_work("100 ms, by work", 1, 0.1),
    by_work("100 ms, by work, 4 clients", 4, 0.1),
];

/// The result of one experiment: the share that the variant loses compared with the base. There are
/// four figures: by the sums of operations and seconds, by the typical slice, by all slices
/// including rare ones, and by all except those in which the server held a client throughout.
type Lost = [f64; 4];

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let tries = size.pick(48, 600);
    findings.table(
        format!(
            "**Stalls** of one of two servers, with slices of {} ms, operations of {} ms in the mean and {tries} experiments of {} s. What the \
             stalls truly cost, and in the mean what the throughput of the step, the typical slice and all slices (the typical and the rare) \
             say; last, for comparison: all slices but those in which the server held a client throughout. A server stalls at times of its own, \
             load or none, or after so much work.",
            SLICE.as_millis(),
            1e3 * OPERATION,
            STEP.as_secs()
        ),
        "stalls | truth | throughput | typical slice | all slices | without the held",
    );
    for (seed, scenario) in (720..).zip(&SCENARIOS) {
        let found = simulate(seed, tries, |random| scenario.experiment(random));
        let means = [0, 1, 2, 3].map(|by| {
            let values = found.each(|lost| lost[by]);
            let error = judge::sd_sample(&values).unwrap_or_default() / (tries as f64).sqrt();
            (judge::mean(&values).unwrap_or(f64::NAN), error)
        });
        scenario.check(means, findings);
        let cells = [scenario.truth()].into_iter().chain(means.map(|(mean, _)| mean));
        findings.row(scenario.name, cells.map(|part| percent(part, 2)));
    }
}

impl Scenario {
    /// The cost of stalls for a server that has the load all the time.
    fn truth(&self) -> f64 {
        match self.stalls {
            Stalls::Never => 0.0,
            Stalls::ByWork(chance) => 1.0 - OPERATION / (OPERATION + chance * self.length),
            Stalls::ByTime(between) => self.length / (self.length + between),
        }
    }

    /// Checks the means and their standard errors.
    fn check(&self, means: [(f64, f64); 4], findings: &mut Findings) {
        let truth = self.truth();
        let [throughput, typical, slices, _] = means;
        let mut check = |what: &str, (found, error): (f64, f64), low: f64, high: f64| {
            // The bounds, and what the number of experiments explains: three standard errors.
            let (low, high) = (low - 0.001, high + 0.001);
            findings.check(
                format!("{what}, {}", self.name),
                percent(found, 2),
                format!("{} to {}", percent(low, 2), percent(high, 2)),
                (low - 3.0 * error..=high + 3.0 * error).contains(&found),
            );
        };
        check("throughput", throughput, 0.95 * truth, 1.05 * truth);
        let long = self.length > SLICE.as_secs_f64();
        // A stall caused by its own work takes time from the other server's slots as well, which
        // its own slices cannot show.
        let least = if long && matches!(self.stalls, Stalls::ByWork(_)) { 0.5 } else { 0.85 };
        check("all slices", slices, least * truth, 1.15 * truth);
        if long || self.stalls == Stalls::Never {
            check("typical slice", typical, 0.0, 0.5 * truth);
        }
    }

    fn experiment(&self, random: &mut Random) -> Lost {
        let slices = Slices { seed: random.bits(), lengths: vec![SLICE], lead_in: 0.2 };
        let start = Moment::now();
        let spans = self.spans(random);
        // By client, target and round.
        let measured: Vec<Vec<Vec<drive::Measured>>> = (0..self.clients)
            .map(|_| self.client(Route::new(&slices, 2, start, false), start, &spans, random))
            .collect();
        let of_target = |target: usize| {
            let clients: Vec<_> = measured.iter().map(|targets| &targets[target][..]).collect();
            drive::slices(Timetable::new(&slices, 2), 2, target, STEP, &clients)
        };
        let (base, variant) = (of_target(1 - VARIANT), of_target(VARIANT));
        let rate = |slices: &[drive::Slice]| {
            let operations: u64 = slices.iter().map(|slice| slice.operations).sum();
            operations as f64 / slices.iter().map(|slice| slice.seconds).sum::<f64>()
        };
        let compared = |held: bool| {
            let (base, variant) = stored(&base, held).paired(&stored(&variant, held));
            restart_ratio(&base, &variant).expect("rates of many rounds")
        };
        let (all, without_held) = (compared(true), compared(false));
        let lost = |log: f64| -log.exp_m1();
        [
            1.0 - rate(&variant) / rate(&base),
            lost(all.mean_log),
            lost(all.mean_log + all.tails_log),
            lost(without_held.mean_log + without_held.tails_log),
        ]
    }

    /// When the variant stands still, in seconds after the start, in order.
    fn spans(&self, random: &mut Random) -> Vec<(f64, f64)> {
        let Stalls::ByTime(between) = self.stalls else { return Vec::new() };
        let mut spans = Vec::new();
        let mut at = -between * random.uniform().ln();
        while at < STEP.as_secs_f64() {
            spans.push((at, at + self.length));
            at += self.length - between * random.uniform().ln();
        }
        spans
    }

    /// The measurements of one client.
    fn client(
        &self,
        mut route: Route,
        start: Moment,
        spans: &[(f64, f64)],
        random: &mut Random,
    ) -> Vec<Vec<drive::Measured>> {
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut spans = spans.iter().peekable();
        let mut now = 0.0;
        while now < STEP.as_secs_f64() {
            let Some(slot) = route.go_on(at(now)) else { break };
            let mut took = -OPERATION * random.uniform().ln();
            if slot.target == VARIANT {
                if matches!(self.stalls, Stalls::ByWork(chance) if random.uniform() < chance) {
                    took += self.length;
                }
                while spans.next_if(|(_, end)| *end <= now).is_some() {}
                // Operations under way go on when the stall is over.
                let mut ahead = spans.clone();
                while let Some((begin, end)) = ahead.next_if(|(begin, _)| *begin < now + took) {
                    took += end - begin.max(now);
                }
            }
            route.round(at(now), at(now + took), 1);
            now += took;
        }
        route.finish(at(now))
    }
}

/// Slices as a run stores them; `held`: including those in which the server held a client
/// throughout.
fn stored(slices: &[drive::Slice], held: bool) -> report::Slices {
    let length_ms = SLICE.as_secs_f64() * 1e3;
    let rates = slices.iter().map(|slice| slice.rate().filter(|_| held || slice.held <= 0.0));
    let rates: Vec<f64> = rates.map(|rate| rate.unwrap_or(f64::NAN)).collect();
    report::Slices {
        length_ms,
        lengths: vec![length_ms; slices.len()],
        reasons: rates.iter().map(|rate| if rate.is_nan() { 3.0 } else { 0.0 }).collect(),
        rates,
        servers: 2,
    }
}
