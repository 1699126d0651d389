//! The output of EXPLAIN for a statement.

use crate::ParsedPlan;

/// Parses a plan as `EXPLAIN (COSTS OFF)` prints it.
pub fn parse(plan: &str) -> ParsedPlan {
    // A list of values is as long in every version, but printed in different ways.
    let lines = plan.lines().map(|line| line.split_once(" = ANY").map_or(line, |(head, _)| head));
    let shape: String = lines.collect::<Vec<_>>().join("\n");
    let node = |line: &str| {
        let line = line.trim_start().trim_start_matches("->").trim();
        (!line.contains(": ")).then(|| line.to_owned())
    };
    ParsedPlan {
        shape: shape.replace(|c: char| c.is_ascii_digit(), ""),
        outline: plan.lines().filter_map(node).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_no_part_of_the_shape() {
        let of = |id: u32| parse(&format!("Index Scan using pk on t\n  Index Cond: (id = {id})"));
        assert_eq!(of(17), of(4711));
        let list = |text: &str| parse(&format!("Seq Scan on t\n  Filter: (id = ANY ({text}))"));
        assert_eq!(list("'{1,2}'::integer[]"), list("ARRAY[3, 4]"));
        assert_ne!(of(17), list("'{1,2}'::integer[]"));
    }

    #[test]
    fn nodes_are_told_in_their_order() {
        let plan = "Limit\n  ->  Index Scan using pi1_pdc on pi1\n        Index Cond: (price >= 7)";
        assert_eq!(parse(plan).outline, "Limit, Index Scan using pi1_pdc on pi1");
    }
}
