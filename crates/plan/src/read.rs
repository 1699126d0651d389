//! From TOML text to a [`Plan`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::check::check;
use crate::count::read_count;
use crate::duration::parse_duration;
use crate::place::in_folder;
use crate::problem::{PlanError, Problems};
use crate::section::{
    Section, as_table, boolean, choice, describe, integer, integer32, join, number, printable,
    setting, string, strings, text,
};
use crate::size::parse_size;
use crate::types::{
    BuildPlan, BuildSystem, DEFAULT_BLOCKS, DEFAULT_MARGIN, DEFAULT_PROFILE_SECONDS,
    DEFAULT_REPEATS, DEFAULT_STEAL_LIMIT, Pairing, Plan, Variant,
};
use crate::workloads::WorkloadPlan;

/// More blocks than anyone can run; keeps a slip of the finger from filling the memory.
const MAX_BLOCKS: u32 = 10_000;
/// A machine on which so many trials in a row are polluted is no machine to measure on.
const MAX_REPEATS: u32 = 100;
/// Longest configuration file read, 1 MiB.
const MAX_CONFIG_FILE: u64 = 1 << 20;

impl Plan {
    /// Reads a plan from a file; configuration files are looked for beside it.
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
    /// `folder` is where configuration files are looked for; without one they cannot be read (a stored plan holds their text).
    /// `origin` says where the text came from; problems begin with it.
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
                    "duplicate key" => format!("`{}` stands a second time", printable(found)),
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
    let name = top.read(p, "name", string);
    let base = top.read(p, "base", string);
    let blocks = top.read(p, "blocks", |v| integer32(v, 1..MAX_BLOCKS + 1));
    let seed = top.read(p, "seed", |v| integer(v, 0..(1 << 63)));
    let margin = top.read(p, "margin", number);
    let scale = top.read(p, "settle_seconds_scale", number);
    let memory_limit = top.read(p, "memory_limit", size);
    let pairing = top.read(p, "pairing", pairing);
    let slice_ms = top.read(p, "slice_ms", |v| integer32(v, 2..10_001));
    let restore_after = top.read(p, "restore_after", string);
    let steal_limit = top.read(p, "steal_limit", number);
    let repeats = top.read(p, "repeats", |v| integer32(v, 0..MAX_REPEATS + 1));
    let precision = top.read(p, "precision", number);
    let max_blocks = top.read(p, "max_blocks", |v| integer32(v, 1..MAX_BLOCKS + 1));
    let budget = top.read(p, "budget", budget);
    let profile = top.read(p, "profile", boolean);
    let profile_seconds = top.read(p, "profile_seconds", |v| integer32(v, 1..601));
    let config = top.table(p, "config").map(|t| settings(p, t, "config")).unwrap_or_default();
    let shared = Shared { config, memory_limit, folder };
    let mut variants = Vec::new();
    for (key, value) in top.table(p, "variants").into_iter().flatten() {
        let path = join("variants", key.get_ref());
        p.place(path.clone(), key.span());
        match as_table(p, &path, value) {
            Some(table) => variants.push(read_variant(p, key.get_ref(), table, &shared)),
            None => p.mark_unread("variants"),
        }
    }
    let table = top.table(p, "workload");
    let workload = WorkloadPlan::read(p, table);
    let count = top.table(p, "count").map(|t| read_count(p, t, folder)).unwrap_or_default();
    top.finish(p);
    Plan {
        name: name.unwrap_or_else(|| workload.name().to_owned()),
        base: base.unwrap_or_else(|| {
            let first = variants.first();
            first.map(|v: &Variant| v.name.clone()).unwrap_or_default()
        }),
        blocks: blocks.unwrap_or(DEFAULT_BLOCKS),
        seed,
        margin: margin.unwrap_or(DEFAULT_MARGIN),
        settle_seconds_scale: scale.unwrap_or(1.0),
        pairing: pairing.unwrap_or_default(),
        slice_ms,
        restore_after: restore_after.map(|step| workload.canonical(&step).to_owned()),
        steal_limit: steal_limit.unwrap_or(DEFAULT_STEAL_LIMIT),
        repeats: repeats.unwrap_or(DEFAULT_REPEATS),
        precision,
        max_blocks,
        budget,
        profile: profile.unwrap_or(false),
        profile_seconds: profile_seconds.unwrap_or(DEFAULT_PROFILE_SECONDS),
        variants,
        workload,
        count,
        text: text.to_owned(),
    }
}

/// What the top of the plan says for all variants.
struct Shared<'f> {
    config: BTreeMap<String, String>,
    memory_limit: Option<u64>,
    folder: Option<&'f Path>,
}

fn read_variant(p: &mut Problems, name: &str, table: &DeTable, shared: &Shared) -> Variant {
    let path = join("variants", name);
    let mut section = Section::new(table, path.clone());
    let dbms = section.read(p, "dbms", string);
    if dbms.is_none() && !table.keys().any(|k| k.get_ref() == "dbms") {
        p.of(
            &path,
            format!("variant `{}` lacks `dbms`; add dbms = \"postgres@14.3\"", printable(name)),
        );
    }
    let mut config = shared.config.clone();
    if let Some(table) = section.table(p, "config") {
        config.extend(settings(p, table, &section.path_of("config")));
    }
    let config_file = section.read(p, "config_file", string);
    let mut config_text = section.read(p, "config_text", string);
    if let (Some(file), None) = (&config_file, &config_text) {
        match read_config_file(shared.folder, file) {
            Ok(text) => config_text = Some(text),
            Err(message) => p.of(&section.path_of("config_file"), message),
        }
    }
    let build =
        section.table(p, "build").map(|table| read_build(p, table, &section.path_of("build")));
    let initdb = section.read(p, "initdb", strings).unwrap_or_default();
    let memory_limit = section.read(p, "memory_limit", size);
    let twin_of = section.read(p, "twin_of", string);
    section.finish(p);
    Variant {
        name: name.to_owned(),
        dbms: dbms.map_or_else(String::new, |dbms| in_folder(&dbms, shared.folder)),
        build,
        config,
        config_file,
        config_text,
        initdb,
        memory_limit: memory_limit.or(shared.memory_limit),
        twin_of,
    }
}

fn read_build(p: &mut Problems, table: &DeTable, path: &str) -> BuildPlan {
    let mut section = Section::new(table, path);
    let build = BuildPlan {
        cflags: section.read(p, "cflags", text),
        compiler: section.read(p, "compiler", string),
        configure: section.read(p, "configure", strings).unwrap_or_default(),
        system: section.read(p, "system", build_system),
    };
    section.finish(p);
    build
}

fn read_config_file(folder: Option<&Path>, file: &str) -> Result<String, String> {
    let Some(folder) = folder else {
        return Err(format!(
            "`config_file`: \"{}\" cannot be read, since this plan has no folder; give its text as `config_text`",
            printable(file)
        ));
    };
    let path = folder.join(file);
    // "./" and "a/../" only make messages harder to read.
    let shown: std::path::PathBuf = path.components().filter(|c| *c != Component::CurDir).collect();
    let shown = printable(&shown.display().to_string());
    let meta = fs::metadata(&path).map_err(|e| {
        format!(
            "`config_file`: cannot read {shown}: {e}; the path is relative to the plan's folder"
        )
    })?;
    if !meta.is_file() || meta.len() > MAX_CONFIG_FILE {
        return Err(format!("`config_file`: {shown} is no text file of at most 1 MiB"));
    }
    match fs::read_to_string(&path) {
        Ok(text) if text.is_empty() => Err(format!("`config_file`: {shown} is empty")),
        Ok(text) => Ok(text),
        Err(e) => Err(format!("`config_file`: cannot read {shown}: {e}")),
    }
}

fn settings(p: &mut Problems, table: &DeTable, path: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for (key, value) in table {
        let name = key.get_ref();
        let fit = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        if name.is_empty() || !name.chars().all(fit) {
            let message = format!(
                "`{}` in [{path}] is no name of a setting; expected letters, digits, `_`, `-` and `.`",
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

fn build_system(value: &DeValue) -> Result<BuildSystem, String> {
    choice(value, &BuildSystem::ALL.map(|system| (system.as_str(), system)))
}

fn pairing(value: &DeValue) -> Result<Pairing, String> {
    choice(value, &Pairing::ALL.map(|pairing| (pairing.as_str(), pairing)))
}

fn budget(value: &DeValue) -> Result<Duration, String> {
    match value {
        DeValue::String(text) => parse_duration(text).map_err(|e| e.to_string()),
        other => Err(format!("expected a time such as \"1h30m\", found {}", describe(other))),
    }
}

fn size(value: &DeValue) -> Result<u64, String> {
    let bytes = match value {
        DeValue::String(text) => parse_size(text).map_err(|e| e.to_string())?,
        other => integer(other, 1..(1 << 63))
            .map_err(|_| format!("expected a size such as \"512MB\", found {}", describe(other)))?,
    };
    if bytes == 0 || bytes > i64::MAX as u64 {
        return Err("a limit must be more than 0 and fit 63 bits".to_owned());
    }
    Ok(bytes)
}
