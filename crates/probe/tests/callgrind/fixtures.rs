//! Files written by Callgrind (`fixtures/README.md`) for a program whose instructions were counted
//! by hand.

use std::fs;
use std::path::{Path, PathBuf};

use probe::callgrind::{Event, Profile, dumps};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/callgrind/fixtures").join(name)
}

fn read(name: &str) -> Profile {
    Profile::read(&path(name), Event::Instructions).unwrap()
}

/// Own, inclusive, calls.
fn figures(profile: &Profile, function: &str) -> (u64, u64, u64) {
    let cost = &profile.functions[function];
    (cost.own, cost.inclusive, cost.calls)
}

#[test]
fn the_figures_are_those_counted_by_hand() {
    let tiny = read("tiny.out");
    assert_eq!(tiny.total, 806);
    assert_eq!(tiny.functions.len(), 6);
    // Called with 3: 7 activations that go on, of 14 instructions, 8 that do not, of 8; each spins
    // for 22.
    assert_eq!(figures(&tiny, "tree"), (7 * 14 + 8 * 8, 7 * 14 + 8 * 8 + 15 * 22, 15));
    // Called with 4: ping, pong, ping, pong, ping; 11 instructions each and 8 the last; they spin
    // for 8 and for 12.
    assert_eq!(figures(&tiny, "ping"), (11 + 11 + 8, 100, 3));
    assert_eq!(figures(&tiny, "pong"), (11 + 11, 100 - 11 - 8, 2));
    assert_eq!(figures(&tiny, "spin"), (580, 580, 15 + 5 + 1));
    assert_eq!(figures(&tiny, "mark"), (2, 2, 2));
    assert_eq!(figures(&tiny, "(below main)"), (10, 806, 0));
    assert_eq!(tiny.functions["ping"].object, "/tmp/tiny/tiny");
}

#[test]
fn other_ways_to_write_it_say_the_same() {
    let tiny = read("tiny.out");
    for name in ["long.out", "combined.out"] {
        assert_eq!(read(name), tiny, "{name}");
    }
    // With cache simulation, the 3 instructions that end the process are in the cost of the call
    // that leads there, but in no function.
    let mut detail = read("detail.out");
    assert_eq!(detail.functions.remove("leave").unwrap().own, 0);
    detail.functions.get_mut("(below main)").unwrap().inclusive -= 3;
    assert_eq!(detail, tiny);
}

#[test]
fn caches_are_read_where_they_were_simulated() {
    let of = |name: &str, event| Profile::read(&path(name), event);
    // Reads and writes; misses of instructions, reads and writes.
    for (event, total) in
        [(Event::DataAccesses, 63 + 64), (Event::L1Misses, 3 + 2), (Event::LlMisses, 3 + 2)]
    {
        let found = of("detail.out", event).unwrap();
        let own: u64 = found.functions.values().map(|cost| cost.own).sum();
        assert_eq!((found.total, own), (total, total), "{}", event.name());
    }
    for (name, event, column) in [
        ("detail.out", Event::Cycles, "Bcm"),
        ("detail.out", Event::SystemCalls, "sysCount"),
        ("tiny.out", Event::L1Misses, "I1mr"),
    ] {
        let error = of(name, event).unwrap_err().to_string();
        assert!(error.contains(column) && error.contains(event.name()), "{error}");
    }
}

#[test]
fn without_symbols_functions_are_addresses_in_their_file() {
    let (tiny, stripped) = (read("tiny.out"), read("stripped.out"));
    assert_eq!(stripped.total, tiny.total);
    for (function, address) in
        [("tree", "0x401014"), ("ping", "0x40103a"), ("pong", "0x401057"), ("spin", "0x401000")]
    {
        let name = format!("{address} in stripped");
        assert_eq!(figures(&stripped, &name), figures(&tiny, function), "{function}");
    }
}

#[test]
fn the_stretches_between_marks_add_up() {
    let found = dumps(&path("marks")).unwrap();
    // The names differ from those of a run, whose files have the pid: out.PID.PART.
    assert!(found.is_empty());
    let stretches = ["marks.out.1", "marks.out.2", "marks.out"].map(read);
    let instructions: Vec<_> = stretches.iter().map(|stretch| stretch.total).collect();
    assert_eq!(instructions, [3 + 492 + 1, 1 + 2 + 100 + 1, 1 + 2 + 202 + 1]);
    let tiny = read("tiny.out");
    for (name, whole) in &tiny.functions {
        let parts = stretches.iter().filter_map(|stretch| stretch.functions.get(name));
        let sum = parts.fold((0, 0, 0), |(own, inclusive, calls), cost| {
            (own + cost.own, inclusive + cost.inclusive, calls + cost.calls)
        });
        assert_eq!(sum, (whole.own, whole.inclusive, whole.calls), "{name}");
    }
}

/// Every line of a real file is removed, doubled or damaged: refused, or read with costs that add
/// up to its totals. Truncated files are always refused.
#[test]
fn damaged_files_do_no_harm() {
    for name in ["tiny.out", "detail.out", "long.out", "combined.out"] {
        let text = fs::read_to_string(path(name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let parse = |lines: &[&str]| {
            let text = lines.join("\n");
            Profile::parse(text.as_bytes(), Path::new(name), Event::Instructions)
        };
        let ends: Vec<usize> =
            (0..lines.len()).filter(|line| lines[*line].starts_with("totals")).collect();
        let (mut read, mut refused) = (0, 0);
        for line in 0..lines.len() {
            let cut = parse(&lines[..line]);
            // What is between two parts may be missing at the end.
            let after_a_part = ends.iter().any(|end| line > *end);
            if cut.is_ok() {
                assert!(after_a_part, "{name}, {line} lines");
            }
            for other in ["", lines[line.saturating_sub(1)], "calls=1 1", "fn=(99)", "x", "+1 1 1"]
            {
                let mut changed = lines.clone();
                changed[line] = other;
                let Ok(profile) = parse(&changed) else {
                    refused += 1;
                    continue;
                };
                read += 1;
                let totals = changed.iter().filter_map(|line| line.strip_prefix("totals: "));
                let instructions = totals.map(|costs| costs.split(' ').next().unwrap());
                let listed: u64 = instructions.map(|costs| costs.parse::<u64>().unwrap()).sum();
                let own: u64 = profile.functions.values().map(|cost| cost.own).sum();
                let found = (profile.total, own);
                assert_eq!(found, (listed, listed), "{name}, line {}: {other}", line + 1);
            }
        }
        assert!(read > 0 && refused > 0, "{name}: {read} read, {refused} refused");
        assert_eq!(ends.len(), if name == "combined.out" { 3 } else { 1 });
    }
}

#[test]
fn errors_name_the_file_the_line_and_what_to_do() {
    let text = fs::read_to_string(path("tiny.out")).unwrap();
    let of = |text: &str| {
        let parsed = Profile::parse(text.as_bytes(), Path::new("dump"), Event::Instructions);
        parsed.unwrap_err().to_string()
    };
    let error = of(&text.replace("totals: 806", "totals: 807"));
    assert!(
        error.contains("dump, line 1") && error.contains("807") && error.contains("806"),
        "{error}"
    );
    assert!(error.contains("run again"), "{error}");
    let error = of(&text.replace("events: Ir", "events: Cycles"));
    assert!(error.contains("dump, line 17") && error.contains("Ir"), "{error}");
    let error = of(&text.replace("version: 1", "version: 2"));
    assert!(error.contains("dump, line 2"), "{error}");
    let error =
        Profile::read(Path::new("/nonexistent/dump"), Event::Cycles).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/dump"), "{error}");
}
