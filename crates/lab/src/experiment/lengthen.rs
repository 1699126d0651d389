//! Longer slices for steps whose slices turn out to be too short.

use std::collections::BTreeMap;

use judge::{ENOUGH_BLOCKS, Warning, longer_slices};
use plan::{Plan, PlannedStep, SequenceKey, StepKey};

use crate::experiment::extent::Extent;
use crate::experiment::standing::Standing;
use crate::joint::slicing::longest_within;

/// A step that goes on with longer slices.
#[derive(Debug, Clone, PartialEq)]
pub struct Longer {
    /// Key of its sequence, place in it.
    pub place: (SequenceKey, usize),
    pub step: StepKey,
    /// Their length in ms.
    pub ms: f64,
    /// Why, for people.
    pub why: String,
}

/// The lengths of slices that steps went on with, in ms.
pub type Chosen = BTreeMap<StepKey, f64>;

/// The steps that go on with longer slices: an open comparison has slices of two lengths that
/// certainly disagree, and the step has time for longer ones. Not if the plan sets the length.
pub fn too_short(
    standings: &[Standing],
    extent: &Extent,
    plan: &Plan,
    chosen: &Chosen,
) -> Vec<Longer> {
    let mut found: Vec<Longer> = Vec::new();
    for standing in standings.iter().filter(|it| !it.settled && extent.runs(it.key)) {
        if plan.slice_ms.is_some() || needs_more(standing, plan, chosen) {
            continue;
        }
        let Some(longer) = longer(standing, plan, chosen) else { continue };
        match found.iter_mut().find(|known| known.place == longer.place) {
            Some(known) if known.ms < longer.ms => *known = longer,
            Some(_) => {}
            None => found.push(longer),
        }
    }
    found
}

fn longer(standing: &Standing, plan: &Plan, chosen: &Chosen) -> Option<Longer> {
    let disagree = |warning: &Warning| match *warning {
        Warning::LengthsDisagree { short, long } => Some((short, long)),
        _ => None,
    };
    let (short, long) = standing.comparison.warnings.iter().find_map(disagree)?;
    let scatter = standing.scatter.as_ref()?;
    let step = planned(standing, plan)?;
    let now = chosen.get(&step.key).copied().or_else(|| judge::median(&scatter.slice_ms))?;
    let most = longest_within((!step.timed).then_some(scatter.seconds));
    let ms = longer_slices(now, short, long, most)?;
    let why = format!(
        "{}: slices of {now:.0} and {:.0} ms give different ratios ({short:.3}, {long:.3}), so further \
         blocks have slices of {ms:.0} ms",
        standing.text(),
        2.0 * now
    );
    let (_, sequence, place) = standing.key;
    Some(Longer { place: (sequence, place), step: step.key, ms, why })
}

/// The step of a comparison.
fn planned(standing: &Standing, plan: &Plan) -> Option<PlannedStep> {
    let (_, key, place) = standing.key;
    let sequence = plan.workload.sequences().into_iter().find(|it| it.key == key)?;
    sequence.steps.into_iter().nth(place)
}

/// True if the step of a comparison went on with longer slices because of it, or of another, and
/// too few restarts have had them yet to be judged by these alone.
pub fn needs_more(standing: &Standing, plan: &Plan, chosen: &Chosen) -> bool {
    let step = planned(standing, plan);
    let Some(ms) = step.and_then(|step| chosen.get(&step.key)) else { return false };
    let lengths = standing.scatter.iter().flat_map(|it| &it.slice_ms);
    standing.comparison.disagreement().is_some()
        && lengths.filter(|length| **length >= 0.999 * ms).count() < ENOUGH_BLOCKS
}

#[cfg(test)]
mod tests {
    use judge::{ByLength, Margin, RestartRatio, Verdict};
    use report::Scatter;

    use super::*;

    fn plan(more: &str) -> Plan {
        let text = format!(
            "budget = '5m'\npairing = 'frozen'\n{more}\n[variants.a]\ndbms = 'postgres@13.7'\n\
             [variants.b]\ndbms = 'postgres@14.3'\n[workload.insert]\nsteps = ['l.i0', 'qr100']\n"
        );
        Plan::parse(&text, None, "test").unwrap()
    }

    /// A comparison of six restarts whose slices of 50 and 100 ms are this far apart.
    fn standing(plan: &Plan, step: &str, apart: f64, scatter: Scatter) -> Standing {
        let sequence = plan.workload.sequences().remove(0);
        let place = sequence.steps.iter().position(|known| known.key.name == step).unwrap();
        let part = |log: f64| RestartRatio::even(log, 1e-8, 20);
        let one = |noise: f64| RestartRatio {
            by_length: ByLength::of((&part(apart + noise), 1.0), (&part(-noise), 0.5), 0.75),
            ..part(0.5 * apart)
        };
        let restarts = [0.001, -0.002, 0.0, 0.0015, -0.001, 0.0005].map(one);
        let comparison = judge::compare_frozen(&restarts, Margin::default(), 0.99).unwrap();
        Standing {
            key: (1, sequence.key, place),
            variant: "b".to_owned(),
            step: step.to_owned(),
            settled: comparison.verdict != Verdict::Inconclusive,
            comparison,
            scatter: Some(scatter),
        }
    }

    /// Six restarts of 5 s, of which so many have slices of 50 ms, and the others of 400.
    fn scatter(short: usize) -> Scatter {
        let slice_ms = [vec![50.0; short], vec![400.0; 6 - short]].concat();
        Scatter { restarts: 6, all: 0.0, within: 1e-8, seconds: 5.0, slice_ms }
    }

    fn found(plan: &Plan, standings: &[Standing], chosen: &Chosen) -> Vec<(String, f64)> {
        let longer = too_short(standings, &Extent::whole(plan), plan, chosen).into_iter();
        longer.map(|it| (it.step.name, it.ms)).collect()
    }

    #[test]
    fn slices_grow_with_what_two_lengths_disagree_by() {
        let plan = plan("");
        let none = Chosen::new();
        let timed =
            |apart: f64| found(&plan, &[standing(&plan, "qr100", apart, scatter(6))], &none);
        let ms = |ms: f64| vec![("qr100".to_owned(), ms)];
        assert_eq!(timed(0.011), ms(200.0));
        assert_eq!(timed(0.3), ms(400.0), "six seconds have no room for eight rounds of 800 ms");
        assert_eq!(timed(0.001), []);
        // The step of a fixed number of rows has no more time than it had.
        let rows = standing(&plan, "l.i0", 0.3, Scatter { seconds: 2.5, ..scatter(6) });
        let both = [standing(&plan, "qr100", 0.03, scatter(6)), rows.clone(), rows];
        let expected = [ms(400.0), vec![("l.i0".to_owned(), 200.0)]].concat();
        assert_eq!(found(&plan, &both, &none), expected);
        // One block that a noisy neighbor made longer says nothing.
        let one = standing(&plan, "qr100", 0.03, scatter(5));
        assert!(!needs_more(&one, &plan, &none));
        assert_eq!(found(&plan, &[one], &none), ms(400.0));
    }

    #[test]
    fn a_length_is_left_where_it_is_given_or_not_yet_judged() {
        let (free, given) = (plan(""), plan("slice_ms = 50"));
        let step = free.workload.sequences().remove(0).steps;
        let step = step.into_iter().find(|step| step.key.name == "qr100").unwrap().key;
        let chosen = Chosen::from([(step, 400.0)]);
        let few = standing(&free, "qr100", 0.03, scatter(1));
        assert!(needs_more(&few, &free, &chosen) && found(&free, &[few], &chosen).is_empty());
        let enough = standing(&free, "qr100", 0.03, scatter(0));
        assert!(!needs_more(&enough, &free, &chosen));
        let other = standing(&free, "l.i0", 0.03, scatter(6));
        assert!(!needs_more(&other, &free, &chosen));
        let alone = standing(&given, "qr100", 0.03, scatter(6));
        assert_eq!(found(&given, &[alone], &Chosen::new()), []);
        let settled = Standing { settled: true, ..standing(&free, "qr100", 0.03, scatter(6)) };
        assert_eq!(found(&free, &[settled], &Chosen::new()), []);
    }
}
