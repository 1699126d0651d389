//! From a [`Plan`] back to TOML.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::count::write_count;
use crate::key::{line, write_keys};
use crate::plan::{Plan, Variant};
use crate::value::{key_text, quoted};

impl Plan {
    /// The plan as TOML, complete (configuration files become `config_text`) and lightly commented.
    /// [`Plan::parse`] reads the same plan from it.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        write_keys(&mut out, &mut self.clone());
        let common = common_settings(&self.variants);
        if !common.is_empty() {
            out.push_str("\n[config] # settings for all variants\n");
            settings(&mut out, &common, &BTreeMap::new());
        }
        for variant in &self.variants {
            write_variant(&mut out, variant, &common);
        }
        self.workload.write(&mut out, &self.added, !self.designs_itself());
        write_count(&mut out, &self.count);
        out
    }
}

/// Settings with the same value in all of several variants.
fn common_settings(variants: &[Variant]) -> BTreeMap<String, String> {
    let [first, others @ ..] = variants else {
        return BTreeMap::new();
    };
    if others.is_empty() {
        return BTreeMap::new();
    }
    let everywhere = |(key, value): &(&String, &String)| {
        others.iter().all(|v| v.config.get(*key) == Some(*value))
    };
    let common = first.config.iter().filter(everywhere);
    common.map(|(k, v)| (k.clone(), v.clone())).collect()
}

fn write_variant(out: &mut String, variant: &Variant, common: &BTreeMap<String, String>) {
    let name = quoted(&variant.name);
    let _ = writeln!(out, "\n[variants.{name}]");
    write_keys(out, &mut variant.clone());
    if variant.config.keys().any(|key| !common.contains_key(key)) {
        let _ = writeln!(out, "[variants.{name}.config]");
        settings(out, &variant.config, common);
    }
}

/// Writes the settings that are not among the common ones.
fn settings(out: &mut String, all: &BTreeMap<String, String>, common: &BTreeMap<String, String>) {
    for (key, value) in all.iter().filter(|(key, _)| !common.contains_key(*key)) {
        line(out, &key_text(key), &quoted(value), "");
    }
}
