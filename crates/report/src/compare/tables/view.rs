//! The data that tables are made from.

use judge::Method;
use metrics::counted;

use crate::judging::judged::Judged;
use crate::load::model::{Results, StepResults, VariantStep};
use crate::output::table::{Row, RowKind, Section, Table};
use crate::sweep::Sweep;

pub(crate) use crate::output::table::VARIANT;

/// The command that prints the tables, if no other is known.
pub(crate) const COMMAND: &str = "steelyard compare";

/// The source of the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) results: &'a Results,
    /// By throughput.
    pub(crate) judged: &'a Judged,
    /// The comparisons that the tables of verdicts show.
    pub(crate) verdicts: &'a [Judged],
    pub(crate) sweeps: &'a [Sweep],
    pub(crate) rows_are_steps: bool,
    /// The kinds of tables that were asked for; `None`: no particular ones.
    pub(crate) sections: Option<&'a [Section]>,
    /// The command that prints this, to name in hints.
    pub(crate) command: &'a str,
}

/// A variant in a step.
pub(crate) struct Point<'a> {
    pub(crate) step: &'a StepResults,
    pub(crate) label: String,
    pub(crate) place: usize,
    pub(crate) name: &'a str,
    pub(crate) figures: &'a VariantStep,
}

impl<'a> View<'a> {
    /// True if tables of this kind are to be printed.
    pub(crate) fn shows(&self, section: Section) -> bool {
        self.sections.is_none_or(|asked| asked.contains(&section))
    }

    /// The steps with their indexes and labels, without the points of sweeps: hundreds of columns
    /// or tables would say less than the tables of [`super::sweeps`].
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, &'a StepResults, String)> {
        let view = *self;
        self.every_step().filter(move |(number, ..)| view.sweep_of(*number).is_none())
    }

    /// All steps, including the points of sweeps.
    pub(crate) fn every_step(&self) -> impl Iterator<Item = (usize, &'a StepResults, String)> {
        let results = self.results;
        let steps = results.steps.iter().enumerate();
        steps.map(|(number, step)| (number, step, results.step_label(step)))
    }

    /// The sweep that shows a step instead of the tables over all steps.
    pub(crate) fn sweep_of(&self, step: usize) -> Option<&'a Sweep> {
        self.sweeps.iter().find(|sweep| sweep.one_server && sweep.has(step))
    }

    /// Headings of a table with a column for each of these steps.
    pub(crate) fn step_columns(&self, steps: &[&StepResults]) -> Vec<String> {
        let labels = steps.iter().map(|step| self.results.step_label(step));
        std::iter::once(VARIANT.to_owned()).chain(labels).collect()
    }

    /// A table of all steps in the requested orientation.
    pub(crate) fn turned(&self, table: Table) -> Table {
        if self.rows_are_steps { table.transposed("step") } else { table }
    }

    /// Name and figures of a step's variants, base first.
    pub(crate) fn variants(&self, step: usize) -> Vec<(usize, &'a str, &'a VariantStep)> {
        let Some(step) = self.results.steps.get(step) else { return Vec::new() };
        let variant = |place| Some((place, self.results.variant_name(place), step.variant(place)?));
        self.judged.order(self.results).into_iter().filter_map(variant).collect()
    }

    /// All variants in these steps.
    pub(crate) fn points(
        &self,
        steps: impl Iterator<Item = (usize, &'a StepResults, String)>,
    ) -> impl Iterator<Item = Point<'a>> {
        let view = *self;
        steps.flat_map(move |(number, step, label)| {
            view.variants(number).into_iter().map(move |(place, name, figures)| {
                let label = label.clone();
                Point { step, label, place, name, figures }
            })
        })
    }

    /// The row of a variant.
    pub(crate) fn row(&self, place: usize, cells: impl IntoIterator<Item = String>) -> Row {
        Row::new(self.results.variant_name(place), cells).of_kind(self.kind(place))
    }

    /// The kind of a base's row.
    pub(crate) fn kind(&self, variant: usize) -> Option<RowKind> {
        (variant == self.judged.base).then_some(RowKind::Base)
    }

    /// `1 block`, `6 blocks`, `3 to 6 blocks`.
    pub(crate) fn counted(&self, counts: impl Iterator<Item = usize>) -> String {
        let counts: Vec<usize> = counts.filter(|count| *count > 0).collect();
        match (counts.iter().min(), counts.iter().max()) {
            (Some(low), Some(high)) if low == high => counted(*low, "block"),
            (Some(low), Some(high)) => format!("{low} to {high} blocks"),
            _ => "no finished block".to_owned(),
        }
    }

    /// `medians over 6 blocks` or similar; `geometric means` for figures that also have relative
    /// ones.
    pub(crate) fn over_blocks(&self, what: &str) -> String {
        let variants = self.results.steps.iter().flat_map(|step| &step.variants);
        let counts = || variants.clone().map(|variant| variant.samples.len());
        let counted = self.counted(counts());
        if counts().any(|count| count > 1) { format!("{what} over {counted}") } else { counted }
    }

    /// The definition of a relative value.
    pub(crate) fn relative_legend(&self) -> Vec<String> {
        let base = self.judged.base_name(self.results);
        let mut legend = vec![format!(
            "relative: value of the variant / value of {base}, geometric mean over paired blocks"
        )];
        let differ = |step: &StepResults| {
            let counts = || step.variants.iter().map(|v| v.samples.len()).filter(|n| *n > 0);
            counts().min() != counts().max()
        };
        if self.results.variants.len() > 2 && self.results.steps.iter().any(differ) {
            legend.push(format!(
                "if variants have different blocks in a step: absolute figures of {base} are over the blocks that any other variant has"
            ));
        }
        if self.judged.comparisons().any(|found| found.method == Method::Slices) {
            legend.push(
                "steps in slices: from the middle half of the paired slices (from all of them in frozen slices), while absolute figures are from all slices"
                    .to_owned(),
            );
        }
        legend
    }

    /// The note that replaces the verdicts on a single block.
    pub(crate) fn too_few(&self) -> Option<String> {
        let most = self.results.steps.iter().flat_map(|step| &step.variants);
        let one = most.map(|variant| variant.samples.len()).max() == Some(1);
        one.then(|| "1 block: too few for a verdict".to_owned())
    }
}
