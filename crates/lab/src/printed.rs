//! Figures that other programs print.

use metrics::LATENCIES;

/// The name under which a figure that a program printed is stored, and its value in that metric's
/// unit; response times are of `class`, unless they are called otherwise.
pub(crate) fn stored(class: &str, name: &str, value: f64, unit: &str) -> (String, f64) {
    let (class, short) = match name.split_once('.') {
        // p99.9 is not a metric of a class called p99.
        Some((class, short)) if class.chars().all(char::is_alphabetic) => (class, short),
        _ => (class, name),
    };
    let short = if short == "p99.9" { "p999" } else { short };
    let latency = LATENCIES.iter().find(|latency| latency.short() == short);
    if let (Some(latency), "µs") = (latency, unit) {
        return (latency.of(class), value);
    }
    match name {
        "MB/s" => return (metrics::MEGABYTES.name.to_owned(), value),
        "retries" | "retried" => return (metrics::RETRIES.name.to_owned(), value),
        _ => {}
    }
    if let Some(known) = metrics::find(name) {
        let factor = match (known.unit, unit) {
            ("B", "GB") => 1024.0 * 1024.0 * 1024.0,
            _ => 1.0,
        };
        return (known.name.to_owned(), value * factor);
    }
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    (metrics::PRINTED.of(&name.chars().map(allowed).collect::<String>()), value)
}
