//! Plans so small that a trial takes seconds.

/// One variant, 13.7.
pub const ONE: &[(&str, &str)] = &[("pg13.7", "postgres@13.7")];
/// Both variants.
pub const BOTH: &[(&str, &str)] = &[("pg13.7", "postgres@13.7"), ("pg14.3", "postgres@14.3")];

/// A plan of these variants, the first as base, with further lines for the whole and for the
/// workload.
pub fn plan(variants: &[(&str, &str)], whole: &str, workload: &str) -> String {
    let mut text = format!("name = \"small\"\nbase = \"{}\"\n", variants[0].0);
    if !whole.contains("blocks") {
        text.push_str("blocks = 1\n");
    }
    if !whole.contains("settle_seconds_scale") {
        text.push_str("settle_seconds_scale = 0.0\n");
    }
    // Whoever else has this machine's CPUs is not to decide how many trials there are.
    if !whole.contains("steal_limit") {
        text.push_str("steal_limit = 1.0\n");
    }
    text.push_str(&format!("seed = 7\n{whole}\n"));
    if !whole.contains("config") {
        text.push_str("config = { shared_buffers = \"16MB\", fsync = \"off\" }\n");
    }
    for (name, dbms) in variants {
        text.push_str(&format!("\n[variants.\"{name}\"]\ndbms = \"{dbms}\"\n"));
    }
    let mut defaults = String::new();
    for (key, value) in [("rows", "5000"), ("indexed_rows", "1000"), ("read_write_seconds", "1")] {
        if !workload.lines().any(|line| line.starts_with(&format!("{key} "))) {
            defaults.push_str(&format!("{key} = {value}\n"));
        }
    }
    format!("{text}\n[workload.insert]\n{defaults}{workload}\n")
}
