//! Statements that variants execute by different plans.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use store::Warning;

use crate::model::{Noted, Results, StepResults};

/// A statement that a variant executes by another plan than the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedPlan {
    /// The statement, with `$1`, `$2`, … for its values.
    pub statement: String,
    /// The plans that the base chose, in any block.
    pub base: Vec<String>,
    /// The plans that the variant chose.
    pub plans: Vec<String>,
}

/// The statements of a step whose plans differ, whatever their values.
pub(crate) fn differing(step: &StepResults, base: usize, place: usize) -> Vec<ExplainedPlan> {
    let Some((of_base, variant)) = step.variant(base).zip(step.variant(place)) else {
        return Vec::new();
    };
    let both = variant
        .plans
        .iter()
        .filter_map(|(statement, plans)| Some((statement, of_base.plans.get(statement)?, plans)));
    let differ = both.filter(|(_, base, plans)| shapes(base) != shapes(plans));
    let explained = |(statement, base, plans): (&String, &BTreeSet<String>, &BTreeSet<String>)| {
        let [base, plans] = [base, plans].map(|plans| plans.iter().cloned().collect());
        ExplainedPlan { statement: statement.clone(), base, plans }
    };
    differ.map(explained).collect()
}

/// Plans without the values in them.
fn shapes(plans: &BTreeSet<String>) -> BTreeSet<String> {
    let digit = |c: char| c.is_ascii_digit();
    // A list of values is as long in every version, but printed in different ways.
    let shape = |plan: &String| {
        let lines =
            plan.lines().map(|line| line.split_once(" = ANY").map_or(line, |(head, _)| head));
        lines.collect::<Vec<_>>().join("\n").replace(digit, "")
    };
    plans.iter().map(shape).collect()
}

/// A warning for each step and variant in which a statement has another plan than in the base.
pub(crate) fn warnings(results: &Results) -> Vec<Noted> {
    let Some(base) = results.variant_named(&results.experiment.base) else { return Vec::new() };
    let mut noted = Vec::new();
    for step in &results.steps {
        for place in (0..step.variants.len()).filter(|place| *place != base) {
            let found = differing(step, base, place);
            let Some(first) = found.first() else { continue };
            let [from, to] = [&first.base, &first.plans].map(|plans| outline(plans));
            let more = match found.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let text = format!(
                "another plan than {}: {to} instead of {from} for {}{more}",
                results.variant_name(base),
                first.statement.chars().take(80).collect::<String>()
            );
            noted.push(Noted {
                step: Some(step.key.clone()),
                variant: Some(place),
                block: None,
                warning: Warning { code: "plans-differ".to_owned(), text },
            });
        }
    }
    noted
}

/// The nodes of a plan on one line: `Limit, Index Scan using pi1_pdc on pi1`.
fn outline(plans: &[String]) -> String {
    let nodes = |plan: &String| {
        let node = |line: &str| {
            let line = line.trim_start().trim_start_matches("->").trim();
            (!line.contains(": ")).then(|| line.to_owned())
        };
        plan.lines().filter_map(node).collect::<Vec<_>>().join(", ")
    };
    plans.iter().map(nodes).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::VariantStep;

    fn step(plans: [&str; 2]) -> StepResults {
        let variant = |plan: &str| VariantStep {
            plans: [("SELECT c".to_owned(), BTreeSet::from([plan.to_owned()]))].into(),
            ..VariantStep::default()
        };
        StepResults { variants: plans.map(variant).into(), ..StepResults::default() }
    }

    #[test]
    fn values_are_no_difference() {
        let one = "Index Scan using pk on t\n  Index Cond: (id = 17)";
        let other = "Index Scan using pk on t\n  Index Cond: (id = 4711)";
        assert_eq!(differing(&step([one, other]), 0, 1), []);
        let found = differing(&step([one, "Seq Scan on t\n  Filter: (id = 17)"]), 0, 1);
        assert_eq!((found.len(), outline(&found[0].plans).as_str()), (1, "Seq Scan on t"));
        assert_eq!(outline(&found[0].base), "Index Scan using pk on t");
    }

    #[test]
    fn nodes_are_told_in_their_order() {
        let plan = "Limit\n  ->  Index Scan using pi1_pdc on pi1\n        Index Cond: (price >= 7)";
        assert_eq!(outline(&[plan.to_owned()]), "Limit, Index Scan using pi1_pdc on pi1");
    }
}
