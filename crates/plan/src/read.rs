//! From TOML text to a [`Plan`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use toml::de::DeTable;

use crate::check::check;
use crate::count::read_count;
use crate::key::Keyed;
use crate::keys::{durability, memory_limit};
use crate::place::read_beside;
use crate::problem::{PlanError, Problems};
use crate::section::{Section, as_table, join, printable, setting};
use crate::types::{Durability, Given, Pairing, Plan, Variant};
use crate::workloads::WorkloadPlan;

impl Plan {
    /// Reads a plan from a file; configuration files are looked up next to it.
    ///
    /// # Errors
    /// [`PlanError::Read`] when the file cannot be read, otherwise as [`Plan::parse`].
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        let text = fs::read_to_string(path)
            .map_err(|source| PlanError::Read { path: path.to_owned(), source })?;
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        Plan::parse(&text, Some(folder), &path.display().to_string())
    }

    /// Reads a plan from its text.
    ///
    /// `folder` is where configuration files are looked up; without one they cannot be read (a
    /// stored plan contains their text). `origin` says where the text came from; problems begin
    /// with it.
    ///
    /// # Errors
    /// [`PlanError::Invalid`] with every problem found.
    pub fn parse(text: &str, folder: Option<&Path>, origin: &str) -> Result<Plan, PlanError> {
        let mut problems = Problems::new(text, origin);
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                let found = text.get(span.clone()).unwrap_or_default();
                let message = match error.message() {
                    "duplicate key" => format!("`{}` appears twice", printable(found)),
                    other => other.to_owned(),
                };
                problems.at(span, message);
                problems.finish()?;
                return Err(PlanError::Invalid { problems: Vec::new() });
            }
        };
        let plan = read_plan(&mut problems, document.get_ref(), folder, text);
        check(&plan, &mut problems);
        problems.finish()?;
        Ok(plan)
    }
}

fn read_plan(p: &mut Problems, table: &DeTable, folder: Option<&Path>, text: &str) -> Plan {
    let mut top = Section::new(table, "");
    let mut plan = Plan::default();
    top.keys(p, plan.keys());
    let mut shared = Shared { folder, ..Shared::default() };
    top.keys(p, vec![memory_limit(&mut shared.memory_limit), durability(&mut shared.durability)]);
    if let Some(table) = top.table(p, "config") {
        shared.config = settings(p, table, "config");
    }
    for (key, value) in top.table(p, "variants").into_iter().flatten() {
        let path = join("variants", key.get_ref());
        p.place(path.clone(), key.span());
        match as_table(p, &path, value) {
            Some(table) => plan.variants.push(read_variant(p, key.get_ref(), table, &shared)),
            None => p.mark_unread("variants"),
        }
    }
    let workload = top.table(p, "workload");
    plan.workload = WorkloadPlan::read(p, workload, folder);
    plan.added = plan.workload.add_needed();
    if let Some(table) = top.table(p, "count") {
        plan.count = read_count(p, table, folder);
    }
    top.finish(p);
    if plan.name.is_empty() {
        plan.workload.name().clone_into(&mut plan.name);
    }
    if let Some(first) = plan.variants.first()
        && plan.base.is_empty()
    {
        plan.base.clone_from(&first.name);
    }
    plan.given = Given {
        blocks: table.contains_key("blocks"),
        pairing: table.contains_key("pairing"),
        seconds: plan.workload.says_seconds(workload),
    };
    if plan.designs_itself() && !plan.given.pairing {
        plan.pairing = Pairing::Auto;
    }
    if let Some(step) = &mut plan.restore_after {
        *step = plan.workload.canonical(step).to_owned();
    }
    plan.load_added_once();
    text.clone_into(&mut plan.text);
    plan
}

/// Top-level settings for all variants.
#[derive(Default)]
struct Shared<'f> {
    config: BTreeMap<String, String>,
    memory_limit: Option<u64>,
    durability: Option<Durability>,
    folder: Option<&'f Path>,
}

fn read_variant(p: &mut Problems, name: &str, table: &DeTable, shared: &Shared) -> Variant {
    let path = join("variants", name);
    let mut section = Section::new(table, path.clone());
    let mut variant = Variant {
        name: name.to_owned(),
        config: shared.config.clone(),
        memory_limit: shared.memory_limit,
        durability: shared.durability,
        ..Variant::default()
    };
    section.keys(p, variant.keys());
    if !table.contains_key("dbms") {
        let name = printable(name);
        p.of(&path, format!("variant `{name}` has no `dbms`; add dbms = \"postgres@14.3\""));
    }
    if let Some(folder) = shared.folder {
        variant.dbms = reference::in_folder(&variant.dbms, folder);
    }
    if let Some(table) = section.table(p, "config") {
        variant.config.extend(settings(p, table, &join(&path, "config")));
    }
    section.finish(p);
    if let (Some(file), None) = (&variant.config_file, &variant.config_text) {
        let key = (&*join(&path, "config_file"), "config_text");
        variant.config_text = read_beside(p, shared.folder, file, key);
    }
    variant
}

fn settings(p: &mut Problems, table: &DeTable, path: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for (key, value) in table {
        let name = key.get_ref();
        let fit = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        if name.is_empty() || !name.chars().all(fit) {
            let message = format!(
                "`{}` in [{path}] is not a valid name of a setting; expected letters, digits, `_`, `-` and `.`",
                printable(name)
            );
            p.at(key.span(), message);
            continue;
        }
        match setting(value.get_ref()) {
            Ok(text) => {
                settings.insert(name.to_string(), text);
            }
            Err(message) => p.at(value.span(), format!("`{name}` in [{path}]: {message}")),
        }
    }
    settings
}
