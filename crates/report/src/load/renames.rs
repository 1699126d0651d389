//! Functions that only changed their name from one version to another.

use std::collections::BTreeMap;

/// The present names of functions, by their older ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Renames(BTreeMap<String, String>);

impl Renames {
    /// The renames known for the systems called `dbms`, and those that a plan adds.
    pub(crate) fn of<'a>(plan: &str, dbms: impl IntoIterator<Item = &'a str>) -> Self {
        let facts = dbms.into_iter().filter_map(dbms::profile_facts);
        let known = facts.flat_map(|facts| facts.renamed);
        let mut all: BTreeMap<String, String> =
            known.map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
        if let Ok(plan) = plan::Plan::parse(plan, None, "the stored plan") {
            all.extend(plan.renamed);
        }
        Self(all)
    }

    /// Those whose new name is there, too: otherwise all versions have the older one.
    pub(crate) fn needed(&self, is_there: impl Fn(&str) -> bool) -> Self {
        let needed = self.0.iter().filter(|(_, new)| is_there(new));
        Self(needed.map(|(old, new)| (old.clone(), new.clone())).collect())
    }

    /// The present name of a function.
    pub(crate) fn name<'a>(&'a self, function: &'a str) -> &'a str {
        self.0.get(function).map_or(function, String::as_str)
    }

    /// Folded stacks with present names. What compilers append to names (`.isra.0`) stays.
    pub(crate) fn in_stacks(&self, text: &str) -> String {
        let frame = |frame: &str| {
            let (function, suffix) = match frame.find('.').filter(|at| *at > 0) {
                Some(at) => frame.split_at(at),
                None => (frame, ""),
            };
            format!("{}{suffix}", self.name(function))
        };
        let line = |line: &str| match line.rsplit_once(' ') {
            Some((stack, count)) => {
                let stack: Vec<String> = stack.split(';').map(frame).collect();
                format!("{} {count}\n", stack.join(";"))
            }
            None => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_names_become_newer_ones() {
        let plan = "renamed = { OldName = \"NewName\" }\n[variants.a]\ndbms = \"postgres@14.3\"\n\
                    [workload.insert]\n";
        let renames = Renames::of(plan, ["postgres@14.3"]);
        assert_eq!(renames.name("ExecInitExprInternal"), "ExecInitExpr");
        assert_eq!(renames.name("OldName"), "NewName");
        assert_eq!(renames.name("heap_insert"), "heap_insert");
        let stacks = "postgres;main;OldName.isra.0;heap_insert 7\n[lib];OldName 2\n";
        assert_eq!(
            renames.in_stacks(stacks),
            "postgres;main;NewName.isra.0;heap_insert 7\n[lib];NewName 2\n"
        );
        assert_eq!(Renames::of("", []).in_stacks(stacks), stacks);
        let unneeded = renames.needed(|name| name == "ExecInitExpr");
        assert_eq!(unneeded.in_stacks(stacks), stacks);
        assert_eq!(unneeded.name("ExecInitExprInternal"), "ExecInitExpr");
    }
}
