//! From TOML text to a [`Plan`].

use std::fs;
use std::path::Path;

use toml::de::DeTable;

use crate::beside::read_beside;
use crate::check::check;
use crate::count::read_count;
use crate::edits::Edits;
use crate::key::Keyed;
use crate::keys::Shared;
use crate::layer::{Layer, document, lay};
use crate::plan::{Given, Pairing, Plan, Variant};
use crate::problem::{PlanError, Problems};
use crate::section::{Section, as_table, join, printable};
use crate::workloads::WorkloadPlan;

impl Plan {
    /// Reads a plan from a file; configuration files are looked up next to it.
    ///
    /// # Errors
    /// [`PlanError::Read`] when the file cannot be read, otherwise as [`Plan::parse`].
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        Plan::read_with(path, &Layer::default())
    }

    /// The same with keys of the command line laid over it.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn read_with(path: &Path, layer: &Layer) -> Result<Plan, PlanError> {
        let text = fs::read_to_string(path)
            .map_err(|source| PlanError::Read { path: path.to_owned(), source })?;
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        Plan::parse_with(&text, Some(folder), &path.display().to_string(), layer)
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
        Plan::parse_with(text, folder, origin, &Layer::default())
    }

    /// The same with keys of the command line laid over it; files that these name are looked up in
    /// the current directory.
    ///
    /// # Errors
    /// As [`Plan::parse`].
    pub fn parse_with(
        text: &str,
        folder: Option<&Path>,
        origin: &str,
        layer: &Layer,
    ) -> Result<Plan, PlanError> {
        read_layers(Problems::new(text, origin), folder, layer)
    }

    /// The plan of a short form: this workload with its defaults, and what the layer says, as in
    /// `steelyard run insert -v postgres@13.7 -v postgres@14.3`.
    ///
    /// # Errors
    /// [`PlanError`] as for a plan from a file in the current directory, without places.
    pub fn short(workload: &WorkloadPlan, layer: &Layer) -> Result<Plan, PlanError> {
        let text = format!("[workload.{}]\n", workload.name());
        let mut problems = Problems::new(&text, "the short form");
        problems.generated = true;
        read_layers(problems, Some(Path::new(".")), layer)
    }
}

fn read_layers(mut p: Problems, folder: Option<&Path>, layer: &Layer) -> Result<Plan, PlanError> {
    let text = p.text;
    let Some(below) = parsed(&mut p, text) else { return Err(p.error()) };
    let settings = layer.settings(&mut p, &below);
    let mut edits = Edits::new(text, !p.generated && !layer.twins);
    settings.iter().for_each(|setting| edits.set(&below, &setting.path, &setting.value));
    let above = document(&mut p, &settings);
    let Some(over) = parsed(&mut p, &above) else { return Err(p.error()) };
    let mut table = below;
    lay(&mut table, over);
    let mut plan = read_plan(&mut p, &table, folder, layer.twins);
    check(&plan, &mut p);
    for (path, value) in &p.found_beside {
        edits.set(&table, path, value);
    }
    p.finish()?;
    plan.text = edits.finish().unwrap_or_else(|| plan.to_toml());
    Ok(plan)
}

/// The document of a text.
fn parsed<'d>(p: &mut Problems, text: &'d str) -> Option<DeTable<'d>> {
    let error = match DeTable::parse(text) {
        Ok(document) => return Some(document.into_inner()),
        Err(error) => error,
    };
    let span = error.span().unwrap_or(0..0);
    let found = text.get(span.clone()).unwrap_or_default();
    let message = match error.message() {
        "duplicate key" => format!("`{}` appears twice", printable(found)),
        other => other.to_owned(),
    };
    p.at(span, message);
    None
}

fn read_plan(p: &mut Problems, table: &DeTable, folder: Option<&Path>, twins: bool) -> Plan {
    let mut top = Section::new(table, "");
    let mut plan = Plan::default();
    top.keys(p, plan.keys());
    let mut shared = Shared::default();
    top.keys(p, shared.keys());
    for (key, value) in top.table(p, "variants").into_iter().flatten() {
        let path = join("variants", key.get_ref());
        p.place(path.clone(), key.span());
        match as_table(p, &path, value) {
            Some(table) => {
                plan.variants.push(read_variant(p, key.get_ref(), table, &shared, folder));
            }
            None => p.mark_unread("variants"),
        }
    }
    if twins {
        plan.double();
    }
    let workload = top.table(p, "workload");
    plan.workload = WorkloadPlan::read(p, workload, folder);
    if p.generated {
        let section = plan.workload.section(workload);
        let given = |key: &str| section.is_some_and(|section| section.contains_key(key));
        plan.settle_seconds_scale = plan.workload.family_mut().shorten(&given);
    }
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
    plan.restore_after = plan.restore_after.take().or_else(|| plan.added_load());
    plan
}

fn read_variant(
    p: &mut Problems,
    name: &str,
    table: &DeTable,
    shared: &Shared,
    folder: Option<&Path>,
) -> Variant {
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
    if let Some(folder) = folder {
        let dbms = reference::in_folder(&variant.dbms, folder);
        if dbms != variant.dbms {
            p.complete(&["variants", name, "dbms"], &dbms);
            variant.dbms = dbms;
        }
    }
    section.finish(p);
    if let (Some(file), None) = (&variant.config_file, &variant.config_text) {
        let key = (&*join(&path, "config_file"), "config_text");
        variant.config_text = read_beside(p, folder, file, key);
        p.complete(&["variants", name, "config_text"], &variant.config_text);
    }
    variant
}
