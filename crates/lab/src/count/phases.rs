//! Turns a Callgrind profile into the phases and functions that are stored.

use dbms::{CountMethod, EXECUTE, LeftOut};
use probe::callgrind::{Cost, Profile};
use store::{CountFunction, CountPhase};

/// The method where calls are not known: phases would need what functions call.
pub fn without_calls(method: CountMethod) -> CountMethod {
    CountMethod { phases: &[], ..method }
}

/// The statements of a stretch that ends with a mark, excluding the mark and what is left out.
pub fn statements(stretch: Profile, mark: Profile, method: &CountMethod) -> Profile {
    counted(stretch, method).minus(&counted(mark, method))
}

/// Excludes from the total what is left out.
fn counted(mut profile: Profile, method: &CountMethod) -> Profile {
    for one in method.left_out {
        profile.total = profile.total.saturating_sub(cost(&profile, one));
    }
    profile
}

/// The cost of what is left out. Without calls, what it called is counted with the rest.
fn cost(profile: &Profile, one: &LeftOut) -> u64 {
    let found =
        profile.functions.iter().filter(|(name, _)| without_parameters(name) == one.function);
    found.map(|(_, cost)| cost.inclusive.max(cost.own)).max().unwrap_or(0)
}

/// Events by phase, in their order, then other; they add up to the whole. Nothing for a system
/// without phases.
pub fn phases(profile: &Profile, method: &CountMethod) -> Vec<CountPhase> {
    if method.phases.is_empty() {
        return Vec::new();
    }
    // Functions of one name with other parameters call each other.
    let inclusive = |name: &&str| -> u64 {
        let same =
            profile.functions.iter().filter(|(function, _)| without_parameters(function) == *name);
        same.map(|(_, cost)| cost.inclusive).max().unwrap_or(0)
    };
    let called = |(name, functions): &(&str, &[&[&str]])| {
        let sums = functions.iter().map(|names| names.iter().map(inclusive).sum());
        let called: u64 = sums.max().unwrap_or(0);
        let without = method.left_out.iter().filter(|one| one.phase == Some(name));
        let total = called.saturating_sub(without.map(|one| cost(profile, one)).sum());
        CountPhase { name: (*name).to_owned(), total }
    };
    let mut phases: Vec<CountPhase> = method.phases.iter().map(called).collect();
    // What is counted once stays so.
    let mut left = profile.total;
    for last in [false, true] {
        for phase in phases.iter_mut().filter(|phase| (phase.name == EXECUTE) == last) {
            phase.total = phase.total.min(left);
            left -= phase.total;
        }
    }
    phases.push(CountPhase { name: "other".to_owned(), total: left });
    phases
}

/// The name of a function; a C++ compiler's name also has the types of the parameters.
fn without_parameters(function: &str) -> &str {
    function.split_once('(').map_or(function, |(name, _)| name)
}

/// Every function with a cost, but those that are left out. Where only some functions count,
/// Callgrind also gives their callers an inclusive cost; they are not listed either.
pub fn functions(profile: &Profile, method: &CountMethod) -> Vec<CountFunction> {
    let caller = |own| own == 0 && !method.only_in.is_empty();
    let left_out = |name: &str, all: &Cost| {
        let name = without_parameters(name);
        let with = |it: &LeftOut| it.with.contains(&name) && all.inclusive <= cost(profile, it);
        method.left_out.iter().any(|it| it.function == name || with(it))
    };
    profile
        .functions
        .iter()
        .filter(|(_, cost)| (cost.own > 0 || cost.inclusive > 0) && !caller(cost.own))
        .filter(|(name, cost)| !left_out(name, cost))
        .map(|(name, cost)| CountFunction {
            name: name.clone(),
            object: cost.object.clone(),
            own: cost.own,
            inclusive: cost.inclusive,
            calls: cost.calls,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITH: &[&str] = &["wake_one", "wake_other"];
    const METHOD: CountMethod = CountMethod {
        settings: Vec::new(),
        kinds: 1,
        place: "",
        mark_function: "mark",
        only_in: &[],
        sql: None,
        left_out: &[
            LeftOut { function: "report", phase: None, with: &[] },
            LeftOut { function: "wake", phase: Some("execute"), with: WITH },
        ],
        phases: &[
            ("plan", &[&["plan_all"], &["plan", "plan_new"]]),
            (EXECUTE, &[&["execute"]]),
            ("commit", &[&["commit"]]),
        ],
    };

    /// A stretch with a statement of 1000 instructions, or without, and a report of 70 by the
    /// clock, or without.
    fn stretch(statement: bool, report: bool) -> Profile {
        let cost = |own, inclusive| Cost { object: "server".to_owned(), own, inclusive, calls: 1 };
        let mut profile = Profile { total: 5, ..Profile::default() };
        profile.functions.insert("mark".to_owned(), cost(5, 5));
        if statement {
            profile.total += 1_000;
            profile.functions.insert("execute".to_owned(), cost(1_000, 1_000));
        }
        if report {
            profile.total += 70;
            profile.functions.insert("report".to_owned(), cost(50, 70));
            profile.functions.insert("flush".to_owned(), cost(20, 20));
        }
        profile
    }

    #[test]
    fn a_report_by_the_clock_is_counted_neither_beside_statements_nor_beside_the_mark() {
        for (first, second) in [(false, false), (true, false), (false, true), (true, true)] {
            let counted = statements(stretch(true, first), stretch(false, second), &METHOD);
            assert_eq!(counted.total, 1_000, "reports: {first}, {second}");
            let phases = phases(&counted, &METHOD);
            assert_eq!(phases.iter().map(|phase| phase.total).sum::<u64>(), 1_000);
            assert!(functions(&counted, &METHOD).iter().all(|function| function.name != "report"));
        }
    }

    #[test]
    fn what_only_counting_makes_necessary_is_in_no_phase() {
        let cost = |own, inclusive| Cost { own, inclusive, calls: 1, ..Cost::default() };
        let functions = [
            ("plan", cost(100, 100)),
            ("execute", cost(50, 200)),
            ("wake()", cost(20, 150)),
            ("wake_one(int)", cost(130, 130)),
            ("wake_one()", cost(1, 131)),
            // More than for what is left out.
            ("wake_other", cost(1, 151)),
        ];
        let functions = functions.map(|(name, cost)| (name.to_owned(), cost)).into_iter().collect();
        let counted = statements(Profile { total: 310, functions }, Profile::default(), &METHOD);
        assert_eq!(counted.total, 160);
        let phases = phases(&counted, &METHOD);
        assert_eq!(phases.iter().map(|it| it.total).collect::<Vec<_>>(), [100, 50, 0, 10]);
        let listed: Vec<_> =
            super::functions(&counted, &METHOD).into_iter().map(|it| it.name).collect();
        assert_eq!(listed, ["execute", "plan", "wake_other"]);
    }

    #[test]
    fn without_calls_there_are_no_phases_but_the_whole_is_known() {
        let [with, mark] =
            [true, false].map(|statement| stretch(statement, statement).without_calls());
        let counted = statements(with, mark, &METHOD);
        assert_eq!(counted.total, 1_020, "with what the report called");
        assert_eq!(phases(&counted, &without_calls(METHOD)), []);
        let own: u64 = functions(&counted, &METHOD).iter().map(|function| function.own).sum();
        assert_eq!(own, 1_020);
    }

    #[test]
    fn of_a_phase_the_functions_with_the_most_instructions_count() {
        let cost = |inclusive| Cost { inclusive, calls: 1, ..Cost::default() };
        let of = |functions: &[(&str, u64)]| {
            let functions = functions.iter().map(|(name, own)| ((*name).to_owned(), cost(*own)));
            let profile = Profile { total: 100, functions: functions.collect() };
            phases(&profile, &METHOD).iter().map(|phase| phase.total).collect::<Vec<_>>()
        };
        assert_eq!(of(&[("plan_all", 30), ("plan", 29), ("execute", 50)]), [30, 50, 0, 20]);
        assert_eq!(of(&[("plan", 10), ("plan_new", 19), ("execute", 50)]), [29, 50, 0, 21]);
        let inside = [("plan", 60), ("execute", 90), ("commit", 5)];
        assert_eq!(of(&inside), [60, 35, 5, 0], "one is inside the other");
        let rare = [("plan_all", 1), ("plan_new", 20), ("execute", 50)];
        assert_eq!(of(&rare), [20, 50, 0, 30], "for something else, now and then");
        assert_eq!(of(&[]), [0, 0, 0, 100]);
        // Below what the mark costs, a function has none left.
        assert_eq!(of(&[("plan_all", 30), ("mark", 0), ("execute", 50)]), [30, 50, 0, 20]);
    }
}
