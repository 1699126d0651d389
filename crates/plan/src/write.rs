//! From a [`Plan`] back to TOML.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::count::write_count;
use crate::duration::format_duration;
use crate::key::{line, quoted};
use crate::size::format_size;
use crate::types::{
    BuildPlan, DEFAULT_PROFILE_SECONDS, DEFAULT_REPEATS, DEFAULT_STEAL_LIMIT, Plan, Variant,
};

impl Plan {
    /// The plan as TOML, complete (configuration files become `config_text`) and lightly commented.
    /// [`Plan::parse`] reads the same plan from it.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        line(&mut out, "name", &quoted(&self.name), "");
        let base = "what all others are compared with";
        line(&mut out, "base", &quoted(&self.base), base);
        line(&mut out, "blocks", &self.blocks.to_string(), "trials per variant");
        if let Some(seed) = self.seed {
            let seed = seed.to_string();
            line(&mut out, "seed", &seed, "order of trials, parameters of statements");
        }
        let margin = float(self.margin);
        line(&mut out, "margin", &margin, "differences up to this share are small");
        let scale = float(self.settle_seconds_scale);
        line(&mut out, "settle_seconds_scale", &scale, "of the rest after settling, 0 to 1");
        line(&mut out, "pairing", &quoted(self.pairing.as_str()), "blocks, slices or auto");
        self.write_options(&mut out);

        let common = common_settings(&self.variants);
        if !common.is_empty() {
            out.push_str("\n[config] # settings for all variants\n");
            settings(&mut out, &common, &BTreeMap::new());
        }
        for variant in &self.variants {
            write_variant(&mut out, variant, &common);
        }
        self.workload.write(&mut out);
        write_count(&mut out, &self.count);
        out
    }

    /// The keys that most plans leave alone, where they differ from their defaults.
    fn write_options(&self, out: &mut String) {
        if let Some(ms) = self.slice_ms {
            line(out, "slice_ms", &ms.to_string(), "length of a slice");
        }
        if let Some(step) = &self.restore_after {
            line(out, "restore_after", &quoted(step), "loaded once; trials start on a copy");
        }
        if self.steal_limit.to_bits() != DEFAULT_STEAL_LIMIT.to_bits() {
            let note = "CPU share a hypervisor may take in a step";
            line(out, "steal_limit", &float(self.steal_limit), note);
        }
        if self.repeats != DEFAULT_REPEATS {
            let note = "how often a polluted trial is run again";
            line(out, "repeats", &self.repeats.to_string(), note);
        }
        if let Some(precision) = self.precision {
            let note = "half-width of an interval that is enough";
            line(out, "precision", &float(precision), note);
        }
        if let Some(blocks) = self.max_blocks {
            line(out, "max_blocks", &blocks.to_string(), "where undecided steps end");
        }
        if let Some(budget) = self.budget {
            line(out, "budget", &quoted(&format_duration(budget)), "no block ends after it");
        }
        if self.profile {
            line(out, "profile", "true", "perf looks at each step, outside of what is measured");
        }
        if self.profile_seconds != DEFAULT_PROFILE_SECONDS {
            line(out, "profile_seconds", &self.profile_seconds.to_string(), "of each profile");
        }
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
    line(out, "dbms", &quoted(&variant.dbms), "");
    if let Some(build) = &variant.build {
        line(out, "build", &build_table(build), "");
    }
    if let Some(file) = &variant.config_file {
        line(out, "config_file", &quoted(file), "its text follows; the file is not read again");
    }
    if let Some(text) = &variant.config_text {
        line(out, "config_text", &quoted(text), "");
    }
    if !variant.initdb.is_empty() {
        let list: Vec<String> = variant.initdb.iter().map(|a| quoted(a)).collect();
        line(out, "initdb", &format!("[{}]", list.join(", ")), "");
    }
    if let Some(bytes) = variant.memory_limit {
        line(out, "memory_limit", &quoted(&format_size(bytes)), "of the server, by cgroup");
    }
    if let Some(original) = &variant.twin_of {
        line(out, "twin_of", &quoted(original), "the same system a second time");
    }
    if variant.config.keys().any(|key| !common.contains_key(key)) {
        let _ = writeln!(out, "[variants.{name}.config]");
        settings(out, &variant.config, common);
    }
}

fn build_table(build: &BuildPlan) -> String {
    let BuildPlan { cflags, compiler, configure, system } = build;
    let mut keys = Vec::new();
    keys.extend(cflags.as_ref().map(|flags| format!("cflags = {}", quoted(flags))));
    keys.extend(compiler.as_ref().map(|compiler| format!("compiler = {}", quoted(compiler))));
    if !configure.is_empty() {
        let list: Vec<String> = configure.iter().map(|option| quoted(option)).collect();
        keys.push(format!("configure = [{}]", list.join(", ")));
    }
    keys.extend(system.map(|system| format!("system = {}", quoted(system.as_str()))));
    format!("{{ {} }}", keys.join(", "))
}

/// Writes the settings that are not among the common ones.
fn settings(out: &mut String, all: &BTreeMap<String, String>, common: &BTreeMap<String, String>) {
    for (key, value) in all.iter().filter(|(key, _)| !common.contains_key(*key)) {
        line(out, &quoted_key(key), &quoted(value), "");
    }
}

/// A key of a setting: `work_mem` bare, `auto_explain.log_min_duration` in quotes, since a dot would nest.
fn quoted_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

fn float(x: f64) -> String {
    toml::Value::Float(x).to_string()
}
