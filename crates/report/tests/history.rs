//! Histories, from stores to print.
use crate::common::golden;
use crate::common::many::{Many, Request};
use report::{Chosen, Format, History, HistoryOptions, Order, ReportError, history};

/// Repeatable noise of about 1%.
fn noise(seed: u32) -> f64 {
    let mixed = (seed.wrapping_mul(2_654_435_761) >> 8) % 1000;
    1.0 + (f64::from(mixed) / 1000.0 - 0.5) * 0.03
}

const VERSIONS: [&str; 9] =
    ["9.6.24", "10.23", "11.22", "12.22", "13.7", "14.3", "15beta1", "15.8", "16.4"];

/// One experiment of nine versions, in another order than theirs: l.i0 fell by 10% with 14.
fn versions() -> Many {
    let many = Many::new();
    let mut order = VERSIONS;
    order.reverse();
    let names: Vec<String> = order.iter().map(|version| format!("pg{version}")).collect();
    let systems: Vec<_> =
        names.iter().zip(order).map(|(name, version)| (name.as_str(), version, "1GB")).collect();
    many.run(&Request { systems: &systems, ..Request::default() }, &|place, step, _, block| {
        let late = place < 4;
        let level = if step == "l.i0" && late { 90_000.0 } else { 100_000.0 };
        level * noise(place as u32 * 31 + block * 7 + step.len() as u32)
    });
    many
}

fn found(many: &Many, options: &HistoryOptions) -> History {
    history(&many.sources(), options).unwrap()
}

fn names(history: &History) -> Vec<&str> {
    history.document.runs.iter().map(|run| run.name.as_str()).collect()
}

#[test]
fn versions_in_order_with_the_change_between_them() {
    let many = versions();
    let found = found(&many, &HistoryOptions::default());
    golden("history.txt", &found.render(Format::Text).unwrap());
    golden("history.md", &found.render(Format::Markdown).unwrap());
    golden("history.csv", &found.render(Format::Csv).unwrap());
    golden("history.json", &found.render(Format::Json).unwrap());
    assert_eq!(found.document.order, "version", "the usual order where there are several");
    assert_eq!(names(&found), VERSIONS);
    let [line] = &found.document.lines[..] else { panic!("{:?}", found.document.lines) };
    assert_eq!(line.line, "pg");
    let changes: Vec<usize> = line.steps.iter().map(|step| step.changes.len()).collect();
    assert_eq!(changes, [1, 0, 0]);
    let change = &line.steps[0].changes[0];
    assert_eq!((change.before, change.run, change.after), ([0, 4], 5, [5, 8]));
    assert!((change.ratio - 0.9).abs() < 0.01 && change.low < 0.9 && change.high > 0.9);
    assert_eq!(line.steps[0].exchanged, "trial", "versions of one experiment are interleaved");
    let back: report::HistoryDocument =
        serde_json::from_str(&found.render(Format::Json).unwrap()).unwrap();
    assert_eq!(back, found.document);
}

#[test]
fn a_metric_without_its_class_is_answered_with_those_that_have_one() {
    let many = versions();
    let asked = |metric: &str| {
        let options = HistoryOptions { metric: metric.to_owned(), ..HistoryOptions::default() };
        history(&many.sources(), &options).unwrap_err().to_string()
    };
    let told = asked("o/z");
    assert!(told.contains("found o/z (did you mean o/s?); available are "), "{told}");
}

#[test]
fn only_the_steps_asked_for() {
    let many = versions();
    let options = HistoryOptions { steps: vec!["qr100".to_owned()], ..HistoryOptions::default() };
    let document = found(&many, &options).document;
    assert_eq!(document.lines[0].steps.len(), 1);
    let options = HistoryOptions { steps: vec!["l.i9".to_owned()], ..HistoryOptions::default() };
    let error = history(&many.sources(), &options).unwrap_err().to_string();
    assert!(error.contains("l.i0, l.x, qr100") && error.contains("l.i9"), "{error}");
}

/// Twelve nights of two variants. After the seventh, pg14 is another version, which is slower.
fn nights() -> Many {
    let many = Many::new();
    for day in 0..12 {
        let version = if day < 7 { "14.3" } else { "14.4" };
        let systems = [("pg13.7", "13.7", "1GB"), ("pg14", version, "1GB")];
        let request = Request { day, systems: &systems, blocks: 2, ..Request::default() };
        many.run(&request, &|place, step, _, block| {
            let slower = if place == 1 && day >= 7 { 0.8 } else { 1.0 };
            // Each day has its own noise.
            let mood = noise(day as u32 * 97 + 5);
            50_000.0 * slower * mood * (1.0 + 0.001 * f64::from(block + step.len() as u32))
        });
    }
    many
}

#[test]
fn dates_with_a_line_for_each_variant() {
    let many = nights();
    let by_date = HistoryOptions { order: Some(Order::Date), ..HistoryOptions::default() };
    let found = found(&many, &by_date);
    assert_eq!(names(&found)[..2], ["2022-06-28", "2022-06-29"]);
    let lines: Vec<&str> = found.document.lines.iter().map(|line| line.line.as_str()).collect();
    assert_eq!(lines, ["pg13.7", "pg14"]);
    assert!(found.document.lines[0].steps.iter().all(|step| step.changes.is_empty()));
    for step in &found.document.lines[1].steps {
        assert_eq!(step.exchanged, "run", "the trials of a night share its mood");
        let [change] = &step.changes[..] else { panic!("{step:?}") };
        assert_eq!(change.run, 7);
        assert!(change.sentence.contains("where the version went from 14.3 to 14.4"));
        assert!(change.sentence.contains("slower between 2022-07-04 and 2022-07-05"));
    }
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("▼") && text.contains("History by date: pg14"), "{text}");
}

/// Two instances of one type were one line, and a difference between them a change point.
#[test]
fn machines_of_one_type_are_lines_of_their_own() {
    let many = Many::new();
    let night = |day: i64, machine: &str, rate: f64| {
        let request = Request { day, machine, steps: &["l.i0"], ..Request::default() };
        many.run(&request, &|_, _, _, block| rate * noise(day as u32 * 13 + block))
    };
    let by_date = HistoryOptions { order: Some(Order::Date), ..HistoryOptions::default() };
    let lines = || {
        let document = found(&many, &by_date).document;
        let changes = document.lines.iter().flat_map(|line| &line.steps);
        assert!(changes.clone().all(|step| step.changes.is_empty()), "{document:#?}");
        let lines = document.lines.iter();
        lines.map(|line| (line.machine.clone(), line.steps[0].points.len())).collect::<Vec<_>>()
    };
    let [one, other] = ["11111111aaaa", "22222222bbbb"];
    // Before ids were recorded, and on the machine of that time.
    for day in 0..6 {
        night(day, if day < 3 { "" } else { one }, 100_000.0);
    }
    assert_eq!(lines(), [("Example 8".to_owned(), 6)]);
    let slower: Vec<_> = (6..12).map(|day| night(day, other, 90_000.0)).collect();
    let named = |id: &str| format!("Example 8 (id {id})");
    assert_eq!(lines(), [(named("unknown"), 3), (named("11111111"), 3), (named("22222222"), 6)]);
    // If a run was resumed elsewhere, each block belongs to the machine that ran it.
    many.resumed(slower[5], 1, "33333333cccc");
    assert_eq!(lines().last(), Some(&(named("33333333"), 1)));
    let results = report::load(&many.store, report::Which::Id(slower[5])).unwrap();
    let [noted] = &results.warnings[..] else { panic!("{:?}", results.warnings) };
    assert_eq!(noted.warning.code, "machine-changed");
    assert_eq!(
        noted.warning.text,
        "not all ran on one machine and storage: block 1 on Example 8 (id 22222222); blocks 2, 3 on another: \
         id 33333333 instead of 22222222. Each block is of one, so its ratios are; what they depend \
         on may differ"
    );
    let options = report::VarianceOptions {
        chosen: Chosen::default(),
        metric: "o/s".to_owned(),
        steps: Vec::new(),
        deviation: report::Deviation::default(),
        limit: report::DEFAULT_LIMIT,
    };
    let setups = report::variance(&many.sources(), &options).unwrap();
    let setups = setups.document.workloads[0].setups.iter();
    let setups: Vec<_> = setups.map(|setup| (setup.machine.clone(), setup.trials[0])).collect();
    let expected = [("unknown", 9), ("11111111", 9), ("22222222", 16), ("33333333", 2)];
    assert_eq!(setups, expected.map(|(id, trials)| (named(id), trials)));
}

#[test]
fn costs_rise_instead_of_getting_slower() {
    let many = nights();
    let options = HistoryOptions {
        order: Some(Order::Date),
        metric: "cpu/o".to_owned(),
        ..HistoryOptions::default()
    };
    let document = found(&many, &options).document;
    let sentence = &document.lines[1].steps[0].changes[0].sentence;
    assert!(sentence.starts_with("cpu/o of l.i0 of pg14 rose by 2"), "{sentence}");
}

#[test]
fn experiments_of_one_day_are_told_apart() {
    let many = Many::new();
    for _ in 0..2 {
        many.run(&Request::default(), &|_, _, _, _| 5.0);
    }
    let found = found(&many, &HistoryOptions::default());
    assert_eq!(found.document.order, "date", "one version only");
    assert_eq!(names(&found), ["2022-06-28 16:00 #1", "2022-06-28 16:00 #2"]);
    assert!(
        found.document.notes[0].contains("at least 8 are needed"),
        "{:?}",
        found.document.notes
    );
    let text = found.render(Format::Text).unwrap();
    assert!(text.contains("none found"), "{text}");
}

#[test]
fn lines_are_named_by_the_setting_in_which_they_differ() {
    let many = Many::new();
    let systems = [
        ("pg13.7", "13.7", "1GB"),
        ("pg14.3", "14.3", "1GB"),
        ("pg13.7-2", "13.7", "64MB"),
        ("pg14.3-2", "14.3", "64MB"),
    ];
    many.run(&Request { systems: &systems, ..Request::default() }, &|place, _, _, _| {
        100.0 + place as f64
    });
    let document = found(&many, &HistoryOptions::default()).document;
    let lines: Vec<&str> = document.lines.iter().map(|line| line.line.as_str()).collect();
    assert_eq!(lines, ["pg", "pg-2"]);

    let many = Many::new();
    let systems =
        [("a", "13.7", "1GB"), ("b", "14.3", "1GB"), ("c", "13.7", "64MB"), ("d", "14.3", "64MB")];
    many.run(&Request { systems: &systems, ..Request::default() }, &|place, _, _, _| {
        100.0 + place as f64
    });
    let document = found(&many, &HistoryOptions::default()).document;
    let lines: Vec<&str> = document.lines.iter().map(|line| line.line.as_str()).collect();
    assert_eq!(lines, ["postgres (shared_buffers=1GB)", "postgres (shared_buffers=64MB)"]);
}

#[test]
fn commits_stand_in_the_order_given() {
    let many = Many::new();
    let systems = [
        ("pg-c3c3c3c", "17devel", "1GB"),
        ("pg-a1a1a1a", "17devel", "1GB"),
        ("pg-b2b2b2b", "17devel", "1GB"),
        ("pg13.7", "13.7", "1GB"),
    ];
    many.run(&Request { systems: &systems, ..Request::default() }, &|place, _, _, _| {
        100.0 + place as f64
    });
    let by_commit = HistoryOptions { order: Some(Order::Commit), ..HistoryOptions::default() };
    let measured = found(&many, &by_commit);
    assert_eq!(names(&measured), ["c3c3c3c", "a1a1a1a", "b2b2b2b"], "as first measured");
    let notes = measured.document.notes.join("\n");
    assert!(
        notes.contains("left out because the commit is unknown: pg13.7")
            && notes.contains("--commits"),
        "{notes}"
    );
    let commits = ["a1a1a1a0000", "b2b2b2b0000", "c3c3c3c0000"].map(str::to_owned).to_vec();
    let given = HistoryOptions { commits, ..by_commit.clone() };
    assert_eq!(names(&found(&many, &given)), ["a1a1a1a", "b2b2b2b", "c3c3c3c"]);
    let strange = HistoryOptions { commits: vec!["fffffff".to_owned()], ..by_commit };
    let error = history(&many.sources(), &strange).unwrap_err();
    assert!(matches!(error, ReportError::NoRuns { order: "commit", .. }), "{error}");
}

#[test]
fn other_workloads_stay_out_unless_asked_for() {
    let many = nights();
    many.run(&Request { day: 20, rows: 9_000_000, ..Request::default() }, &|_, _, _, _| 5.0);
    let runs = |chosen| {
        let options =
            HistoryOptions { chosen, order: Some(Order::Date), ..HistoryOptions::default() };
        names(&found(&many, &options)).len()
    };
    assert_eq!(runs(Chosen::SameWorkload), 1);
    assert_eq!(runs(Chosen::All), 13);
    assert_eq!(runs(Chosen::LikeExperiment(store::ExperimentId(1))), 12);
    assert_eq!(runs(Chosen::Named(vec!["2".to_owned(), "3".to_owned()])), 2);
}

#[test]
fn the_page_takes_the_history() {
    let many = versions();
    if !report::has_page() {
        return testing::skip("built without the page; make build builds it");
    }
    let history = found(&many, &HistoryOptions::default()).document;
    let results = report::load(&many.store, report::Which::Latest).unwrap();
    let without = report::html(&many.store, &results, None, "0.1.0").unwrap();
    let with = report::html(&many.store, &results, Some(&history), "0.1.0").unwrap();
    assert!(!without.contains(r#""history":{"#) && with.contains(r#""history":{"#));
}

#[test]
fn a_history_of_one_machine_has_only_its_trials() {
    let many = Many::new();
    let ids = ["11111111aa", "22222222bb"].map(|machine| {
        many.run(&Request { machine, ..Request::default() }, &|_, _, _, block| {
            100.0 + f64::from(block)
        })
    });
    let briefs = ids.map(|id| {
        report::catalog::Brief::read(&many.store, &many.store.experiment(id).unwrap()).unwrap()
    });
    assert_eq!(briefs[0].history, briefs[1].history);
    assert_ne!(briefs[0].machines, briefs[1].machines);
    assert_eq!((briefs[0].trials, &*briefs[0].metrics.join(" ")), (3, "o/s cpu/o"));
    let of = |machine: Option<String>| {
        let (chosen, order) = (Chosen::Ids(ids.to_vec()), Some(Order::Date));
        let options = HistoryOptions { chosen, machine, order, ..HistoryOptions::default() };
        history(&many.sources(), &options).unwrap().document
    };
    assert_eq!(of(None).runs.len(), 2);
    let one = of(Some(briefs[1].machines[0].clone()));
    assert_eq!((one.runs.len(), one.lines.len()), (1, 1));
    assert_eq!(one.lines[0].machine, "Example 8 (id 22222222)");
}
