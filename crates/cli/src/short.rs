//! The short form: a plan from options instead of a file.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use plan::{InsertPlan, Plan, Tables, WorkloadPlan};

use crate::exit::WrongRequest;

/// From this many rows on the rest after settling is as long as the benchmark says (the published
/// cached workload has 20M rows); smaller runs rest in proportion.
const FULL_REST_ROWS: f64 = 20e6;

/// Options that stand for a plan file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Short form (instead of a plan file)")]
pub struct ShortForm {
    /// A variant: postgres@13.7, postgres@14 (newest 14.x), git:REPOSITORY#COMMIT, src:TARBALL, path:DIR, postgres://… ;
    /// NAME=… names it. Repeat for each; the first is the base
    #[arg(short, long = "variant", value_name = "[NAME=]DBMS")]
    variants: Vec<String>,
    /// A setting of the server for all variants, for example shared_buffers=1GB; repeat for each
    #[arg(short, long = "config", value_name = "NAME=VALUE")]
    config: Vec<String>,
    /// Rows of l.i0, over all clients [default: 200000]
    #[arg(long, value_name = "N", value_parser = count)]
    rows: Option<u64>,
    /// Rows of l.i1 and l.i2 together, over all clients [default: 50000]
    #[arg(long, value_name = "N", value_parser = count)]
    indexed_rows: Option<u64>,
    /// Steps in order, separated by commas [default: all ten]
    #[arg(long, value_name = "STEP,…", value_delimiter = ',')]
    steps: Vec<String>,
    /// Numbers of clients, separated by commas [default: 1]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    dop: Vec<u32>,
    /// Seconds of each read+write step [default: 10]
    #[arg(long, value_name = "S")]
    seconds: Option<u32>,
    /// All clients use one table
    #[arg(long)]
    shared_table: bool,
    /// Delete the oldest rows at the rate of the inserts, from l.i1 on
    #[arg(long)]
    delete_per_insert: bool,
}

impl ShortForm {
    /// Whether any of the options was given.
    pub fn given(&self) -> bool {
        !self.variants.is_empty()
            || !self.config.is_empty()
            || self.rows.is_some()
            || self.indexed_rows.is_some()
            || !self.steps.is_empty()
            || !self.dop.is_empty()
            || self.seconds.is_some()
            || self.shared_table
            || self.delete_per_insert
    }

    /// The plan that the options stand for.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        if self.variants.is_empty() {
            let text =
                "name at least one variant with -v, for example -v postgres@13.7 -v postgres@14.3";
            return Err(WrongRequest(text.to_owned()).into());
        }
        let mut insert = InsertPlan::default();
        if let Some(rows) = self.rows {
            insert.rows = rows;
            // In the proportion of the defaults, unless it is given too.
            insert.indexed_rows = (rows / 4).max(1);
        }
        if let Some(rows) = self.indexed_rows {
            insert.indexed_rows = rows;
        }
        if !self.steps.is_empty() {
            insert.steps = self.known_steps()?;
        }
        if !self.dop.is_empty() {
            insert.dop.clone_from(&self.dop);
        }
        insert.read_write_seconds = self.seconds.unwrap_or(insert.read_write_seconds);
        if self.shared_table {
            insert.tables = Tables::Shared;
        }
        insert.delete_per_insert = self.delete_per_insert;
        let insert_rows = insert.rows;
        let mut plan = Plan::short(
            "insert",
            self.named_variants(),
            WorkloadPlan::Insert(insert),
            plan::DEFAULT_BLOCKS,
            None,
        )?;
        let config = self.settings()?;
        for variant in &mut plan.variants {
            variant.config.extend(config.clone());
        }
        // The whole rest after settling is for databases of the published size.
        let rows = insert_rows as f64;
        plan.settle_seconds_scale = (rows / FULL_REST_ROWS).clamp(0.05, 1.0);
        // Through its text, so that the plan is checked as a file in this directory would be.
        Ok(Plan::parse(&plan.to_toml(), Some(Path::new(".")), "the short form")?)
    }

    /// The steps by their present names.
    fn known_steps(&self) -> Result<Vec<String>, WrongRequest> {
        let known = |step: &String| {
            plan::canonical_insert_step(step).map(str::to_owned).ok_or_else(|| {
                let all = plan::INSERT_STEPS.join(", ");
                WrongRequest(format!("`--steps`: unknown step `{step}`; the steps are {all}"))
            })
        };
        self.steps.iter().map(known).collect()
    }

    fn named_variants(&self) -> Vec<(String, String)> {
        let references: Vec<&str> = self.variants.iter().map(|text| split_name(text).1).collect();
        let names = plan::variant_names(&references);
        self.variants
            .iter()
            .zip(names)
            .map(|(text, name)| {
                let (given, reference) = split_name(text);
                (given.map_or(name, str::to_owned), reference.to_owned())
            })
            .collect()
    }

    fn settings(&self) -> Result<BTreeMap<String, String>, WrongRequest> {
        self.config
            .iter()
            .map(|text| {
                let (name, value) = text.split_once('=').ok_or_else(|| {
                    WrongRequest(format!(
                        "`-c {text}`: expected NAME=VALUE, as in -c shared_buffers=1GB"
                    ))
                })?;
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            })
            .collect()
    }
}

/// `NAME=REFERENCE`; an `=` behind the start of a reference belongs to it (a url's options).
fn split_name(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((name, reference)) if !name.contains([':', '@', '/']) => (Some(name), reference),
        _ => (None, text),
    }
}

/// A count, with `_` between digits or a k, m or g at the end.
fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let (digits, factor) = match plain.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if plain.ends_with('k') => (digits, 1_000),
        Some(digits) if plain.ends_with('m') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (plain.as_str(), 1),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .filter(|number| *number > 0)
        .ok_or_else(|| {
            format!("expected a count above 0 such as 200000, 200k or 20m, found `{text}`")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_have_a_unit() {
        assert_eq!(count("200_000"), Ok(200_000));
        assert_eq!(count("20m"), Ok(20_000_000));
        assert!(count("0").is_err());
        assert!(count("many").is_err());
        assert!(count("99999999999g").is_err());
    }

    #[test]
    fn variants_may_be_named() {
        assert_eq!(split_name("old=postgres@13.7"), (Some("old"), "postgres@13.7"));
        assert_eq!(split_name("postgres@13.7"), (None, "postgres@13.7"));
        let url = "postgres://host/db?sslmode=disable";
        assert_eq!(split_name(url), (None, url));
    }
}
