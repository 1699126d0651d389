//! Counts of the real program, with known results.

use std::collections::BTreeMap;

use probe::callgrind::{Event, Profile};

use super::run::Program;

/// Loops, statements and calls of `programs/stretches.c`.
const SPIN: u64 = 2 * 1000 + 2;
const STATEMENT: u64 = 3 + SPIN;
const CALL: u64 = 1;

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "the program is in assembly for x86-64")]
fn between_two_marks_every_instruction_is_counted() {
    let Some(program) = Program::compile("stretches", &["-O1"]) else { return };
    let dumps = program.run("out", &[], Some("mark"));
    let parts: Vec<_> = dumps.iter().map(|dump| dump.part).collect();
    assert_eq!(parts, [1, 2, 3, 4, 5]);
    assert_eq!(dumps[0].trigger, "--dump-before=mark");
    assert_eq!(dumps[4].trigger, "Program termination");
    assert!(dumps.iter().all(|dump| dump.pid == dumps[0].pid));
    let stretches: Vec<Profile> =
        dumps.iter().map(|dump| Profile::read(&dump.path, Event::Instructions).unwrap()).collect();

    // Between the first two marks: the return from one and the call of the other.
    let mark = &stretches[1];
    assert_eq!(mark.total, 2);

    let one = stretches[2].minus(mark);
    assert_eq!(one.total, STATEMENT + CALL);
    let statement = &one.functions["statement"];
    assert_eq!((statement.own, statement.inclusive, statement.calls), (3, STATEMENT, 1));
    let spin = &one.functions["spin"];
    assert_eq!((spin.own, spin.inclusive, spin.calls), (SPIN, SPIN, 1));
    assert_eq!(spin.object, program.path().to_str().unwrap());
    assert!(!one.functions.contains_key("mark"), "{one:?}");

    // session and main are on the stack at every mark. Their cost in this stretch is included;
    // their call is not.
    let session = &one.functions["session"];
    assert_eq!((session.own, session.inclusive, session.calls), (CALL, STATEMENT + CALL, 0));
    assert_eq!(one.functions["main"].inclusive, STATEMENT + CALL);
    assert_eq!(one.functions["main"].own, 0);

    let two = stretches[3].minus(mark);
    assert_eq!(two.total, 2 * (STATEMENT + CALL));
    let own = |profile: &Profile, name: &str| profile.functions[name].own;
    for (name, more) in [("session", CALL), ("spin", SPIN), ("statement", 3)] {
        assert_eq!(own(&two, name) - own(&one, name), more, "{name}");
    }
}

/// Callgrind can count a function with everything it calls by itself, if told to count only inside
/// it. Both ways give the same figure.
#[test]
fn recursive_functions_cost_the_same_as_counting_inside_them() {
    let Some(program) = Program::compile("recursion", &["-O1", "-fno-optimize-sibling-calls"])
    else {
        return;
    };
    let profile = program.profile("all", &[]);
    for function in ["direct", "even", "odd", "walk", "visitor", "leaf", "once", "main"] {
        let inside = program.profile(function, &[&format!("--toggle-collect={function}")]);
        assert_eq!(profile.functions[function].inclusive, inside.total, "{function}");
        let own = inside.functions[function].own;
        assert_eq!(profile.functions[function].own, own, "{function}");
    }
    // 2⁷ - 1 activations by main, 2³ - 1 by once.
    assert_eq!(profile.functions["direct"].calls, 127 + 7);
    assert_eq!(profile.functions["even"].calls, 4 + 2);
    assert_eq!(profile.functions["walk"].calls, (1 + 2 + 4 + 8 + 16) + (1 + 2) + (1 + 2 + 4));
    assert!(!profile.functions.keys().any(|name| name.contains('\'')));
}

#[test]
fn each_process_has_dumps_of_its_own() {
    let Some(program) = Program::compile("children", &["-O1"]) else { return };
    let traced = program.run("traced", &["--trace-children=yes"], Some("mark"));
    let mut of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for dump in &traced {
        of.entry(dump.pid).or_default().push(dump.part);
        Profile::read(&dump.path, Event::Instructions).unwrap();
    }
    // The parent and the other program: one mark and the end. The child that only forked: two marks
    // and the end.
    let mut parts: Vec<_> = of.into_values().collect();
    parts.sort();
    assert_eq!(parts, [vec![1, 2], vec![1, 2], vec![1, 2, 3]]);

    let untraced = program.run("untraced", &[], Some("mark"));
    assert_eq!(untraced.len(), 5, "{untraced:?}");
}

#[test]
fn the_same_run_costs_the_same_to_the_instruction() {
    let Some(program) = Program::compile("recursion", &["-O1"]) else { return };
    let (first, second) = (program.profile("first", &[]), program.profile("second", &[]));
    assert_eq!(first, second);
}

/// If the files are more detailed than requested, the costs are the same.
#[test]
fn options_that_add_detail_change_no_cost() {
    let Some(program) = Program::compile("recursion", &["-O1", "-g"]) else { return };
    let plain = program.profile("plain", &[]);
    for (name, more) in [
        ("instructions", &["--dump-instr=yes", "--collect-jumps=yes"][..]),
        ("calls", &["--collect-systime=nsec", "--collect-bus=yes"][..]),
        ("long", &["--compress-strings=no", "--compress-pos=no"][..]),
        ("three", &["--separate-recs=3"][..]),
        ("five", &["--separate-recs=5", "--dump-line=no"][..]),
    ] {
        assert_eq!(program.profile(name, more), plain, "{name}");
    }
    // With cache simulation, the last instructions of the process, omitted otherwise, are in the
    // cost of what is on the stack at its end.
    let caches = program.profile("caches", &["--cache-sim=yes", "--branch-sim=yes"]);
    assert_eq!(caches.total, plain.total);
    for function in ["main", "once", "direct", "even", "walk", "visitor", "leaf"] {
        assert_eq!(caches.functions[function], plain.functions[function]);
    }
}

#[test]
fn misses_mispredictions_and_system_calls_are_where_they_happen() {
    let Some(program) = Program::compile("caches", &["-O1"]) else { return };
    let dumps = program.run_on_caches("events", Some("mark"));
    let of = |event| Profile::read(&dumps[1].path, event).unwrap();
    let own = |event, name: &str| of(event).functions.get(name).map_or(0, |cost| cost.inclusive);
    const TIMES: u64 = 1000;
    // Of the functions, whose work each event is, and how much more than the loop's own it may be.
    for (event, whose) in
        [(Event::L1Misses, "cold"), (Event::LlMisses, "cold"), (Event::SystemCalls, "calls")]
    {
        let found = own(event, whose);
        assert!((TIMES..TIMES + 50).contains(&found), "{}: {found}", event.name());
        for other in ["cold", "warm", "branches", "calls"].into_iter().filter(|it| *it != whose) {
            let found = own(event, other);
            // The first call of another library is looked up.
            assert!(found < 200, "{} of {other}: {found}", event.name());
        }
    }
    // A random bit is guessed half the time, the end of a loop nearly always.
    let guessed = own(Event::Mispredictions, "branches");
    assert!((TIMES * 2 / 5..TIMES * 3 / 5).contains(&guessed), "{guessed}");
    assert!(own(Event::Mispredictions, "warm") < 50);
    let accesses = own(Event::DataAccesses, "warm");
    assert!((2 * TIMES..2 * TIMES + 50).contains(&accesses), "{accesses}");
    let sum = |events: &[(Event, u64)]| events.iter().map(|(e, by)| of(*e).total * by).sum::<u64>();
    let weights = [
        (Event::Instructions, 1),
        (Event::L1Misses, 10),
        (Event::LlMisses, 100),
        (Event::Mispredictions, 10),
    ];
    assert_eq!(of(Event::Cycles).total, sum(&weights));

    let without = program.run("plain", &[], Some("mark"));
    let plain = Profile::read(&without[1].path, Event::Instructions).unwrap();
    assert_eq!(of(Event::Instructions).total, plain.total);
}
