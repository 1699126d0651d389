//! Duplicated variants, for an A/A experiment: how much do identical systems differ?

use crate::key::Keyed;
use crate::plan::{Plan, Variant};
use crate::problem::Problems;
use crate::section::printable;

/// Suffix of a variant's second name.
const SUFFIX: &str = ".aa";

impl Plan {
    /// The same plan with every variant doubled: `pg13.7` is followed by `pg13.7.aa`, the same
    /// system under a second name. Variants that are twins or have one stay as they are, so
    /// doubling twice changes nothing.
    ///
    /// A name that is too long or taken is found by [`Plan::parse_with`], for which this is
    /// [`crate::Layer::twins`].
    pub fn with_twins(&self) -> Plan {
        let mut plan = self.clone();
        plan.double();
        plan.text = plan.to_toml();
        plan
    }

    /// Doubles the variants.
    pub(crate) fn double(&mut self) {
        let mut all = Vec::with_capacity(2 * self.variants.len());
        for variant in &self.variants {
            all.push(variant.clone());
            if variant.twin_of.is_none() && self.twin(&variant.name).is_none() {
                all.push(Variant {
                    name: format!("{}{SUFFIX}", variant.name),
                    twin_of: Some(variant.name.clone()),
                    ..variant.clone()
                });
            }
        }
        self.variants = all;
    }

    /// The (first) variant that is a twin of the one with this name.
    pub fn twin(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|v| v.twin_of.as_deref() == Some(name))
    }
}

/// Adds to `problems` twins that are invalid.
pub(crate) fn check_twins(plan: &Plan, problems: &mut Problems) {
    if problems.is_unread("variants") {
        return;
    }
    for variant in &plan.variants {
        let Some(original) = &variant.twin_of else { continue };
        let shown = (printable(&variant.name), printable(original));
        let path = format!("variants.{}.twin_of", variant.name);
        let problem = match plan.variant(original) {
            _ if *original == variant.name => {
                "which is the variant itself; name another variant".to_owned()
            }
            None => "which is not a variant".to_owned(),
            Some(found) => match difference(variant, found) {
                Some(key) => {
                    format!("but `{key}` differs; a twin must be the same system in every setting")
                }
                None if found.twin_of.is_some() => {
                    "which is itself a twin; name the original variant".to_owned()
                }
                None => continue,
            },
        };
        let (name, original) = shown;
        problems.of(&path, format!("variant `{name}` has `twin_of` = \"{original}\", {problem}"));
    }
}

/// The first key in which two variants differ. The name of a file does not matter, only its text.
fn difference(one: &Variant, other: &Variant) -> Option<&'static str> {
    let bare = |v: &Variant| Variant { config_file: None, twin_of: None, ..v.clone() };
    let (mut one, mut other) = (bare(one), bare(other));
    if one.config != other.config {
        return Some("config");
    }
    one.keys().iter().zip(other.keys()).find_map(|(one, other)| one.differs(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_gets_a_twin_once() {
        let text = "[config]\nfsync = false\n[variants.b]\ndbms = \"postgres@14.3\"\nmemory_limit = \"1GB\"\n\
                    [variants.a]\ndbms = \"postgres@13.7\"\nconfig = { work_mem = \"8MB\" }\n[workload.insert]\n";
        let plan = Plan::parse(text, None, "test").unwrap();
        let doubled = plan.with_twins();
        let names: Vec<&str> = doubled.variants.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["b", "b.aa", "a", "a.aa"]);
        assert_eq!(doubled.base, "b");
        assert_eq!(doubled.twin("a").map(|v| v.name.as_str()), Some("a.aa"));
        let read = Plan::parse(&doubled.text, None, "doubled").unwrap();
        let doubled = Plan { given: read.given, ..doubled };
        assert_eq!(read, doubled);
        assert_eq!(read.with_twins(), doubled);
    }
}
