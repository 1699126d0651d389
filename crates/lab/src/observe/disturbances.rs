//! Disturbances of a measured step: figures and warnings from its seconds and from kernel
//! statistics.
//!
//! None of this decides a verdict. The seconds of a trial depend on each other, so they describe
//! the trial, but only trials show whether a difference is certain.

use drive::Outcome;
use judge::{Steadiness, Trend};
use probe::{HostTotals, Recording};
use store::StepRecord;
use workload::Step;

/// Share of CPU time taken by the hypervisor from which a step gets a warning: half of a plan's
/// default margin, because a CPU-bound step loses about the share that is taken.
const STEAL: f64 = plan::DEFAULT_MARGIN / 2.0;
/// Change over a step from which a trend is reported: its two halves then differ by 5%, and its
/// mean depends on its length.
const TREND: f64 = 0.1;
/// A warm-up is reported if it moves the mean of the step by more than a plan's default margin.
const WARM_UP: f64 = plan::DEFAULT_MARGIN;
/// Share from which a drop of the clock rate is reported: at 3 GHz, more than one of the 100 MHz
/// steps in which processors change it.
const SLOWER: f64 = 0.05;
/// With fewer independent seconds than this, the mean of a step says little about the step.
/// Reported only for steps of at least [`LONG`] seconds, because shorter ones never have more.
const FEW_INDEPENDENT: f64 = 5.0;
/// See [`FEW_INDEPENDENT`].
const LONG: usize = 30;

/// Adds disturbances to a step's record; `here` is the recording from the server's machine.
pub fn describe(record: &mut StepRecord, step: &Step, outcome: &Outcome, here: Option<&Recording>) {
    if let Some(recording) = here {
        if let Some(host) = &recording.totals.host {
            steal(record, host, series(recording, "cpu.st"));
        }
        clock(record, series(recording, "cpu.mhz"));
        throttling(record, recording);
        page_cache(record, recording);
    }
    if outcome.has_whole_seconds()
        && step.counted.is_steady()
        && !step.thinks()
        && !step.runs_in_order()
        && let Some(class) = outcome.class(&step.counted)
    {
        let whole = class.per_second.iter().take(outcome.seconds.floor() as usize);
        let seconds: Vec<f64> = whole.map(|count| *count as f64).collect();
        stalls(record, &seconds);
        throughput(record, &seconds);
    }
}

fn series<'a>(recording: &'a Recording, name: &str) -> &'a [f64] {
    recording.series.iter().find(|series| series.name == name).map_or(&[], |series| &series.values)
}

/// CPU time that the hypervisor gave to other guests; `percent`: by second.
fn steal(record: &mut StepRecord, host: &HostTotals, percent: &[f64]) {
    let share = host.steal_s / (host.busy_s + host.idle_s + host.iowait_s + host.steal_s);
    // NaN values are gaps, and never the larger.
    let worst = percent.iter().fold(f64::NAN, |worst, percent| worst.max(*percent)) / 100.0;
    record.add(metrics::STEAL.name, share);
    record.add(metrics::STEAL_WORST.name, worst);
    if share > STEAL {
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        let worst = match worst > share && percent(worst) != percent(share) {
            true => format!(" ({} in the worst second)", percent(worst)),
            false => String::new(),
        };
        let share = percent(share);
        record.warn(
            "steal",
            format!("the hypervisor took {share} of the CPU time{worst}; expect noisier results"),
        );
    }
}

/// The clock rate, in MHz by second.
fn clock(record: &mut StepRecord, mhz: &[f64]) {
    let Some(mean) = judge::mean(&known(mhz)) else { return };
    record.add(metrics::CLOCK.name, mean);
    let third = mhz.len() / 3;
    if mhz.len() < judge::STEADY_SECONDS {
        return;
    }
    let (first, last) = (judge::median(&mhz[..third]), judge::median(&mhz[mhz.len() - third..]));
    let (Some(first), Some(last)) = (first, last) else { return };
    let change = last / first - 1.0;
    record.add(metrics::CLOCK_CHANGE.name, change);
    if change < -SLOWER {
        record.warn(
            "clock-fell",
            format!(
                "the clock of the CPUs fell by {:.0}%, from {first:.0} to {last:.0} MHz (medians of the first \
                 and the last third of the step)",
                -100.0 * change
            ),
        );
    }
}

fn throttling(record: &mut StepRecord, recording: &Recording) {
    let Some(throttle) = &recording.totals.throttle else { return };
    record.add(metrics::THROTTLED.name, (throttle.core + throttle.package) as f64);
    if throttle.core + throttle.package > 0 {
        record
            .warn("throttled", "the CPU was throttled because of heat during the step".to_owned());
    }
}

/// Records the state of the page cache at the start of the step. Only several trials show whether
/// it differs.
fn page_cache(record: &mut StepRecord, recording: &Recording) {
    let cache = &recording.page_cache;
    for (metric, kb) in [
        (&metrics::START_CACHED, cache.cached_kb),
        (&metrics::START_DIRTY, cache.dirty_kb),
        (&metrics::START_WRITEBACK, cache.writeback_kb),
    ] {
        if let Some(kb) = kb {
            record.add(metric.name, kb as f64);
        }
    }
}

/// Seconds in which almost nothing got done.
fn stalls(record: &mut StepRecord, seconds: &[f64]) {
    let stalls = judge::stalls(seconds);
    let longest = stalls.spans.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    record.add(metrics::STALL_COUNT.name, stalls.spans.len() as f64);
    record.add(metrics::STALL_SHARE.name, stalls.share);
    record.add(metrics::STALL_LONGEST.name, longest as f64);
    if let count @ 1.. = stalls.spans.len() {
        let times = if count == 1 {
            "1 stall".to_owned()
        } else {
            format!("{count} stalls, the longest {longest} s")
        };
        record.warn(
            "stalls",
            format!(
                "{times}: {} s of {} s with less than a quarter of the median throughput",
                stalls.seconds,
                seconds.len()
            ),
        );
    }
}

/// Records whether throughput became steady, its trend, and how many independent seconds it is
/// worth. Gives at most one warning, because a step that warms up also has a trend and dependent
/// seconds.
fn throughput(record: &mut StepRecord, seconds: &[f64]) {
    let steadiness = judge::steadiness(seconds);
    let from = match steadiness {
        Steadiness::TooShort => return,
        Steadiness::Never => None,
        Steadiness::From(second) => Some(second),
    };
    record.add(metrics::STEADY_REACHED.name, f64::from(u8::from(from.is_some())));
    record.add(metrics::STEADY_FROM.name, from.map_or(f64::NAN, |second| second as f64));
    let trend = judge::trend(seconds);
    if let Some(trend) = &trend {
        record.add(metrics::TREND.name, trend.total);
        record.add(metrics::TREND_ERROR.name, trend.error.unwrap_or(f64::NAN));
    }
    let rest = &seconds[from.unwrap_or(0)..];
    record.add(metrics::AUTOCORRELATION.name, judge::autocorrelation(rest, 1).unwrap_or(f64::NAN));
    let worth = judge::effective_sample_size(rest);
    record.add(metrics::EFFECTIVE_SECONDS.name, worth.unwrap_or(f64::NAN));
    let warm_up = warm_up(seconds, from.unwrap_or(0), worth);
    record.add(metrics::WARM_UP.name, warm_up.unwrap_or(0.0));
    let count = seconds.len();
    let trend = trend.filter(Trend::is_sure);
    match (from, warm_up, trend, worth) {
        (None, _, trend, _) => {
            let went = trend.map_or(String::new(), |trend| format!(" ({})", change(&trend)));
            record.warn(
                "not-steady",
                format!(
                    "throughput did not become steady in the first half of its {count} s{went}, so the figure is that of \
                     a transient state: give the step more time"
                ),
            );
        }
        (Some(second), Some(effect), ..) if effect.abs() > WARM_UP => record.warn(
            "warm-up",
            format!(
                "throughput became steady only at second {second} of {count}; the time before makes the \
                 figure {:.1}% {}",
                100.0 * effect.abs(),
                if effect < 0.0 { "lower" } else { "higher" }
            ),
        ),
        (_, _, Some(trend), _) if trend.total.abs() > TREND => record.warn(
            "trend",
            format!(
                "throughput {} over the step, so its figure depends on the length of the step",
                change(&trend)
            ),
        ),
        (.., Some(worth)) if worth < FEW_INDEPENDENT && count >= LONG => record.warn(
            "dependent-seconds",
            format!(
                "throughput drifts: {count} s are worth about {worth:.0} independent seconds; a longer step would \
                 vary less from trial to trial"
            ),
        ),
        _ => {}
    }
}

/// `fell by 12.3% ± 4.0%`.
fn change(trend: &Trend) -> String {
    let error =
        trend.error.map_or(String::new(), |error| format!(" ± {:.1}%", 100.0 * error.abs()));
    let went = if trend.total < 0.0 { "fell" } else { "rose" };
    format!("{went} by {:.1}%{error}", 100.0 * trend.total.abs())
}

/// The fraction by which the seconds before the steady ones move the mean of the step, if that is
/// more than chance: more than two standard errors of the steady seconds' mean, from as many values
/// as they are worth.
fn warm_up(seconds: &[f64], from: usize, worth: Option<f64>) -> Option<f64> {
    let steady = seconds.get(from..)?;
    let (all, level) = (judge::mean(seconds)?, judge::mean(steady)?);
    let error = judge::sd_sample(steady)? / worth?.sqrt();
    let effect = all / level - 1.0;
    (from > 0 && level > 0.0 && (all - level).abs() > 2.0 * error).then_some(effect)
}

fn known(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> StepRecord {
        StepRecord::new(0, "l.i1", 1)
    }

    fn codes(record: &StepRecord) -> Vec<&str> {
        record.warnings.iter().map(|warning| warning.code.as_str()).collect()
    }

    /// Independent noise of ±5% around 1000, without a trend.
    fn noise(count: usize) -> Vec<f64> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..count).map(|_| 1000.0 * (0.95 + 0.1 * draw())).collect()
    }

    fn of_throughput(seconds: &[f64]) -> StepRecord {
        let mut record = record();
        stalls(&mut record, seconds);
        throughput(&mut record, seconds);
        record
    }

    #[test]
    fn a_steady_step_has_figures_and_no_warning() {
        let record = of_throughput(&noise(60));
        assert_eq!(codes(&record), [""; 0], "{:?}", record.warnings);
        assert_eq!(record.metric("steady.reached"), Some(1.0));
        assert_eq!(record.metric("stall.longest"), Some(0.0));
        assert!(record.metric("trend").unwrap().abs() < 0.05);
        assert!(record.metric("trend.error").unwrap() > 0.0);
        assert!(record.metric("autocorrelation").unwrap().abs() < 0.35);
        assert!(record.metric("effective.seconds").unwrap() > 20.0);
    }

    #[test]
    fn of_a_short_step_only_stalls_are_told() {
        let record = of_throughput(&noise(9));
        let names: Vec<&str> = record.metrics.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["stall.count", "stall.share", "stall.longest"]);
    }

    #[test]
    fn a_warm_up_that_moves_the_figure_is_told() {
        let mut seconds = noise(60);
        seconds[..10].iter_mut().for_each(|second| *second /= 2.0);
        let record = of_throughput(&seconds);
        assert_eq!(codes(&record), ["warm-up"]);
        assert_eq!(record.metric("steady.from"), Some(10.0));
        // A sixth of the time at half the rate.
        assert!((record.metric("warm_up.effect").unwrap() + 1.0 / 12.0).abs() < 0.01);
        assert!(record.warnings[0].text.contains("lower"), "{}", record.warnings[0].text);
        // A tenth of a second's worth is too little to report.
        let mut seconds = noise(120);
        seconds[..5].iter_mut().for_each(|second| *second *= 0.8);
        assert_eq!(codes(&of_throughput(&seconds)), [""; 0]);
    }

    #[test]
    fn a_ramp_is_not_steady() {
        let ramp: Vec<f64> =
            noise(60).iter().enumerate().map(|(i, v)| v * (1.0 + i as f64 / 30.0)).collect();
        let record = of_throughput(&ramp);
        assert_eq!(codes(&record), ["not-steady"]);
        assert_eq!(record.metric("steady.reached"), Some(0.0));
        assert_eq!(record.metric("steady.from"), None);
        assert!(record.warnings[0].text.contains("rose by"), "{}", record.warnings[0].text);
    }

    #[test]
    fn seconds_that_wander_are_worth_few() {
        let wave: Vec<f64> = noise(120)
            .iter()
            .enumerate()
            .map(|(i, v)| v + 300.0 * (i as f64 * std::f64::consts::TAU / 60.0).sin())
            .collect();
        let record = of_throughput(&wave);
        assert!(record.metric("autocorrelation").unwrap() > 0.8);
        assert!(record.metric("effective.seconds").unwrap() < 20.0);
        assert!(record.warnings.len() <= 1, "{:?}", record.warnings);
    }

    #[test]
    fn stalls_are_told_with_the_longest() {
        let mut seconds = noise(60);
        for second in [20, 21, 22, 40] {
            seconds[second] = 10.0;
        }
        let record = of_throughput(&seconds);
        assert_eq!(record.metric("stall.longest"), Some(3.0));
        let text = &record.warnings.iter().find(|w| w.code == "stalls").unwrap().text;
        assert_eq!(
            text,
            "2 stalls, the longest 3 s: 4 s of 60 s with less than a quarter of the median throughput"
        );
    }

    #[test]
    fn steal_is_told_with_its_worst_second() {
        let host =
            HostTotals { busy_s: 100.0, idle_s: 17.0, steal_s: 3.0, ..HostTotals::default() };
        let mut told = record();
        steal(&mut told, &host, &[0.0, f64::NAN, 31.0, 2.0]);
        assert_eq!(told.metric("steal"), Some(0.025));
        assert_eq!(told.metric("steal.worst"), Some(0.31));
        assert_eq!(
            told.warnings[0].text,
            "the hypervisor took 2.5% of the CPU time (31.0% in the worst second); expect noisier results"
        );
        let mut even = record();
        steal(&mut even, &host, &[2.54, 2.52, 2.4]);
        let text = "the hypervisor took 2.5% of the CPU time; expect noisier results";
        assert_eq!(even.warnings[0].text, text, "the worst second is no worse");
        let mut quiet = record();
        let host = HostTotals { busy_s: 100.0, steal_s: 0.5, ..HostTotals::default() };
        steal(&mut quiet, &host, &[]);
        assert_eq!((codes(&quiet), quiet.metric("steal.worst")), (vec![], None));
    }

    #[test]
    fn a_falling_clock_is_told() {
        let falling: Vec<f64> = (0..60).map(|s| if s < 25 { 3400.0 } else { 3000.0 }).collect();
        let mut told = record();
        clock(&mut told, &falling);
        assert_eq!(codes(&told), ["clock-fell"]);
        assert!(told.warnings[0].text.contains("12%, from 3400 to 3000 MHz"));
        let mut told = record();
        clock(&mut told, &[3400.0; 60]);
        assert_eq!((codes(&told), told.metric("clock.mhz")), (vec![], Some(3400.0)));
        let mut told = record();
        clock(&mut told, &[]);
        assert_eq!(told, record());
    }
}
