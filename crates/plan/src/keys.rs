//! The keys of a plan, each declared once, in the order in which they are written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::duration::{format_duration, parse_duration};
use crate::key::{Key, Keyed};
use crate::section::{boolean, choice, describe, integer, number, string, strings, text};
use crate::share::{any_share, share};
use crate::types::{
    BuildPlan, BuildSystem, DEFAULT_PROFILE_SECONDS, DEFAULT_REPEATS, DEFAULT_STEAL_LIMIT,
    Durability, Pairing, Plan, Variant,
};

/// More blocks than anyone can run; keeps a typo from filling memory.
const MAX_BLOCKS: u64 = 10_000;
/// A machine on which this many trials in a row are polluted is unfit for measuring.
const MAX_REPEATS: u64 = 100;

const SYSTEMS: [(&str, BuildSystem); 2] =
    [("make", BuildSystem::Make), ("meson", BuildSystem::Meson)];

impl Keyed for Plan {
    fn keys(&mut self) -> Vec<Key<'_>> {
        let budget = self.budget.map(format_duration);
        let designs_itself = self.designs_itself();
        vec![
            Key::new("name", &mut self.name, string),
            Key::new("base", &mut self.base, string).note("the others are compared with it"),
            Key::whole("blocks", &mut self.blocks, 1..MAX_BLOCKS + 1)
                .written(!designs_itself)
                .note("trials per variant"),
            Key::optional("seed", &mut self.seed, |v| integer(v, 0..(1 << 63)))
                .note("order of trials, parameters of statements"),
            Key::new("margin", &mut self.margin, share)
                .note("differences up to this share are small"),
            Key::new("settle_seconds_scale", &mut self.settle_seconds_scale, |v| {
                number(v, 0.0..=1.0, "a factor from 0 to 1")
            })
            .note("factor on the rest after settling, 0 to 1"),
            Key::new("pairing", &mut self.pairing, |v| choice(v, &Pairing::NAMED))
                .written(self.given.pairing || !designs_itself)
                .note("blocks, slices or auto"),
            Key::optional("slice_ms", &mut self.slice_ms, |v| integer(v, 2..10_001))
                .note("length of a slice"),
            Key::optional("restore_after", &mut self.restore_after, string)
                .note("loaded once; trials start on a copy"),
            Key::new("steal_limit", &mut self.steal_limit, any_share)
                .unless(&DEFAULT_STEAL_LIMIT)
                .note("CPU share a hypervisor may take in a step"),
            Key::whole("repeats", &mut self.repeats, 0..MAX_REPEATS + 1)
                .unless(&DEFAULT_REPEATS)
                .note("how often to repeat a polluted trial"),
            Key::optional("precision", &mut self.precision, share)
                .note("half width of a sufficient interval"),
            Key::optional("max_blocks", &mut self.max_blocks, |v| integer(v, 1..MAX_BLOCKS + 1))
                .note("limit for undecided steps"),
            Key::optional("budget", &mut self.budget, |v| match v {
                DeValue::String(text) => parse_duration(text).map_err(|e| e.to_string()),
                other => {
                    Err(format!("expected a time such as \"1h30m\", found {}", describe(other)))
                }
            })
            .shown(budget)
            .note("no block ends after it"),
            Key::new("renamed", &mut self.renamed, renamed)
                .unless(&BTreeMap::<String, String>::new())
                .note("functions with another name: old = new"),
            Key::new("drop_page_cache", &mut self.drop_page_cache, boolean)
                .unless(&false)
                .note("of the data, before each step"),
            Key::new("wait_events", &mut self.wait_events, boolean)
                .unless(&true)
                .note("look ten times a second at what sessions wait for"),
            Key::new("profile", &mut self.profile, boolean)
                .unless(&false)
                .note("perf profiles each step, outside the measured time"),
            Key::whole("profile_seconds", &mut self.profile_seconds, 1..601)
                .unless(&DEFAULT_PROFILE_SECONDS)
                .note("of each profile"),
        ]
    }
}

impl Keyed for Variant {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::new("dbms", &mut self.dbms, string),
            Key::table("build", &mut self.build),
            Key::optional("config_file", &mut self.config_file, string)
                .note("its text follows; the file is not read again"),
            Key::optional("config_text", &mut self.config_text, string),
            Key::new("initdb", &mut self.initdb, strings).unless(&[""; 0]),
            memory_limit(&mut self.memory_limit),
            Key::optional("engine", &mut self.engine, string).note("of a system that has several"),
            durability(&mut self.durability),
            Key::optional("twin_of", &mut self.twin_of, string)
                .note("the same system under a second name"),
        ]
    }
}

/// Names of functions, and what they are called now.
fn renamed(value: &DeValue) -> Result<BTreeMap<String, String>, String> {
    let DeValue::Table(table) = value else {
        let expected = "expected a table such as { OldName = \"NewName\" }";
        return Err(format!("{expected}, found {}", describe(value)));
    };
    let name = |(old, new): (&toml::Spanned<Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        Ok((old.get_ref().to_string(), string(new.get_ref())?))
    };
    table.iter().map(name).collect()
}

/// The memory limit of a variant, or of all.
pub(crate) fn memory_limit(limit: &mut Option<u64>) -> Key<'_> {
    Key::size("memory_limit", limit).note("of the server, by cgroup")
}

/// The durability of a variant, or of all.
pub(crate) fn durability(durability: &mut Option<Durability>) -> Key<'_> {
    Key::optional("durability", durability, |v| choice(v, &Durability::NAMED))
        .note("of commits: full or relaxed")
}

impl Keyed for BuildPlan {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::optional("cflags", &mut self.cflags, text),
            Key::optional("compiler", &mut self.compiler, string),
            Key::new("configure", &mut self.configure, strings).unless(&[""; 0]),
            Key::optional("system", &mut self.system, |v| choice(v, &SYSTEMS)),
        ]
    }
}
