//! Statements of a log that find other numbers of rows than in the base.

use metrics::ROWS;

use super::model::{Noted, Results, VariantStep};

/// How many forms are named.
const NAMED: usize = 3;

/// With fewer blocks, numbers that vary from block to block tell nothing.
const VARYING_BLOCKS: usize = 4;

/// A warning for each step and variant in which a form finds other numbers of rows. Sessions don't
/// wait for each other, so the numbers of one variant may vary from block to block. They tell
/// something if they don't, or if all of one variant are larger than all of the other.
pub(crate) fn warnings(results: &Results) -> Vec<Noted> {
    let Some(base) = results.variant_named(&results.experiment.base) else { return Vec::new() };
    let mut noted = Vec::new();
    for step in &results.steps {
        for place in (0..step.variants.len()).filter(|place| *place != base) {
            let (Some(of_base), Some(own)) = (step.variant(base), step.variant(place)) else {
                continue;
            };
            let found = differing(&step.class, of_base, own);
            if found.is_empty() {
                continue;
            }
            let said = found.iter().take(NAMED).map(|(form, [theirs, own])| {
                format!("{form} finds {} rows instead of {}", range(*own), range(*theirs))
            });
            let mut said: Vec<String> = said.collect();
            if found.len() > NAMED {
                said.push(format!("{} other forms differ, too", found.len() - NAMED));
            }
            let text = format!(
                "row counts differ from {}: {}",
                results.variant_name(base),
                said.join("; ")
            );
            noted.push(Noted::about(step, place, "rows-differ", text));
        }
    }
    noted
}

/// The least and the most rows in a block, and the number of blocks.
type Rows = (f64, f64, usize);

/// The forms, other than `all` of them together, whose numbers don't overlap: those of the base and
/// of the other.
fn differing(all: &str, base: &VariantStep, own: &VariantStep) -> Vec<(String, [Rows; 2])> {
    let forms = own.metrics.iter().filter_map(|name| ROWS.member_in(name));
    let forms = forms.filter(|form| *form != all);
    let differ = forms.filter_map(|form| {
        let both = [rows(base, form)?, rows(own, form)?];
        let [(least, most, blocks), (own_least, own_most, own_blocks)] = both;
        let steady = least.total_cmp(&most).is_eq() && own_least.total_cmp(&own_most).is_eq();
        let told = blocks.min(own_blocks) >= if steady { 2 } else { VARYING_BLOCKS };
        (told && (own_least > most || own_most < least)).then(|| (form.to_owned(), both))
    });
    differ.collect()
}

fn rows(variant: &VariantStep, form: &str) -> Option<Rows> {
    let name = ROWS.of(form);
    let place = variant.metrics.iter().position(|known| *known == name)?;
    let values = variant.samples.iter().filter_map(|sample| sample.values.get(place));
    let values = values.copied().filter(|value| value.is_finite());
    values.fold(None, |range, value| {
        let (least, most, blocks) = range.unwrap_or((value, value, 0));
        Some((value.min(least), value.max(most), blocks + 1))
    })
}

/// `1200`, `1190 to 1200`.
fn range((least, most, _): Rows) -> String {
    match least < most {
        true => format!("{least:.0} to {most:.0}"),
        false => format!("{least:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(of_form: &[(&str, &[f64])]) -> VariantStep {
        let names: Vec<String> = of_form.iter().map(|(form, _)| ROWS.of(form)).collect();
        let blocks = of_form[0].1.len();
        let sample = |block: usize| super::super::model::Sample {
            block: block as u32 + 1,
            trial: store::TrialId(1),
            step: store::StepId(1),
            started_ms: 0,
            values: of_form.iter().map(|(_, values)| values[block]).collect(),
            slices: None,
        };
        VariantStep {
            metrics: names.into(),
            samples: (0..blocks).map(sample).collect(),
            ..VariantStep::default()
        }
    }

    fn differ(base: &[(&str, &[f64])], own: &[(&str, &[f64])]) -> Vec<String> {
        let found = differing("statement", &variant(base), &variant(own));
        let told = found.into_iter().map(|(form, [theirs, own])| {
            format!("{form}: {} instead of {}", range(own), range(theirs))
        });
        told.collect()
    }

    #[test]
    fn numbers_of_rows_that_do_not_vary_differ() {
        let found = differ(
            &[("q1", &[10.0, 12.0]), ("q2", &[5.0, 5.0]), ("statement", &[9.0, 9.0])],
            &[("q1", &[13.0, 14.0]), ("q2", &[4.0, 4.0]), ("statement", &[1.0, 1.0])],
        );
        assert_eq!(found, ["q2: 4 instead of 5"]);
    }

    #[test]
    fn those_that_vary_differ_if_they_do_not_overlap_in_enough_blocks() {
        let base: &[(&str, &[f64])] = &[("q1", &[10.0, 12.0, 11.0, 10.0])];
        assert_eq!(differ(base, &[("q1", &[13.0; 4])]), ["q1: 13 instead of 10 to 12"]);
        assert!(differ(base, &[("q1", &[12.0, 13.0, 13.0, 13.0])]).is_empty());
        assert!(differ(base, &[("q1", &[13.0; 3])]).is_empty());
        assert!(differ(base, &[("q2", &[13.0; 4])]).is_empty(), "the base has no such form");
        assert!(differ(&[("q1", &[1.0])], &[("q1", &[2.0])]).is_empty(), "one block is chance");
    }
}
