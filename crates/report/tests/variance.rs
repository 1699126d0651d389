//! Variances between and within trials, from stores to print.
use crate::common::golden;
use crate::common::many::{Many, Request};
use report::{
    Chosen, DEFAULT_LIMIT, Deviation, Format, ReportError, Source, Variance, VarianceOptions,
    variance,
};

/// Deviations from 1 over three blocks: population CV is √(2/3) of the step's size.
fn spread(size: f64, block: u32) -> f64 {
    1.0 + size * (f64::from(block) - 2.0)
}

const SYSTEMS: [(&str, &str, &str); 2] =
    [("pg13.7.cx5", "13.7", "1GB"), ("pg14.3.cx5", "14.3", "1GB")];

/// Two configurations at 1, 4 and 8 clients, cached and IO-bound.
fn two_workloads() -> Many {
    let many = Many::new();
    for (name, rows) in [("cached", 100_000), ("io-bound", 5_000_000)] {
        let request =
            Request { name, systems: &SYSTEMS, dops: &[1, 4, 8], rows, ..Request::default() };
        many.run(&request, &|place, step, dop, block| {
            let noisy =
                step == "qr100" && ((place == 1 && dop == 4) || (rows > 1_000_000 && dop == 8));
            let size = if noisy { 0.06 } else { 0.004 * f64::from(dop) };
            10_000.0 * spread(size, block)
        });
    }
    many
}

fn options() -> VarianceOptions {
    VarianceOptions {
        chosen: Chosen::default(),
        metric: "o/s".to_owned(),
        steps: Vec::new(),
        deviation: Deviation::default(),
        limit: DEFAULT_LIMIT,
    }
}

fn found(many: &Many, options: &VarianceOptions) -> Variance {
    variance(&many.sources(), options).unwrap()
}

#[test]
fn printed_in_the_published_shape() {
    let many = two_workloads();
    let all = VarianceOptions { chosen: Chosen::All, ..options() };
    let found = found(&many, &all);
    golden("variance.txt", &found.render(Format::Text).unwrap());
    golden("variance.md", &found.render(Format::Markdown).unwrap());
    golden("variance.csv", &found.render(Format::Csv).unwrap());
    golden("variance.json", &found.render(Format::Json).unwrap());
    let choose: Vec<(&str, &[u32])> =
        found.document.choose.iter().map(|one| (one.setup.as_str(), &one.dop[..])).collect();
    assert_eq!(choose, [("pg13.7.cx5", &[1, 4][..]), ("pg14.3.cx5", &[1])]);
}

#[test]
fn figures_are_those_of_the_deviation_named() {
    let many = two_workloads();
    let default = found(&many, &options()).document;
    assert_eq!(default.workloads.len(), 1, "the workload of the newest alone");
    assert_eq!(default.deviation, "population");
    let step = &default.workloads[0].setups[0].steps[0];
    assert!((step.cv.unwrap() - 0.004 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    let sample = VarianceOptions { deviation: Deviation::Sample, ..options() };
    let sample = found(&many, &sample).document;
    assert_eq!(sample.deviation, "sample");
    assert!((sample.workloads[0].setups[0].steps[0].cv.unwrap() - 0.004).abs() < 1e-12);
    let setup = &default.workloads[0].setups[2];
    assert_eq!((setup.dop, setup.trials), (8, [3, 3]));
    assert!((setup.max.unwrap() - 0.06 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    let mean = (0.06 + 2.0 * 0.032) / 3.0 * (2.0_f64 / 3.0).sqrt();
    assert!((setup.mean.unwrap() - mean).abs() < 1e-12);
    let within = step.within.as_ref().unwrap();
    assert!((within.seconds - 12.0).abs() < 1e-9 && within.cv > 0.0 && within.worth.is_some());
    assert!(default.workloads[0].setups[0].steps[1].within.is_none(), "l.x has no seconds");
}

#[test]
fn what_is_printed_as_the_limit_is_chosen() {
    let many = Many::new();
    // Population CV 0.0304, printed as 0.030.
    many.run(&Request::default(), &|_, _, _, block| {
        100.0 * spread(0.0304 / (2.0_f64 / 3.0).sqrt(), block)
    });
    assert_eq!(found(&many, &options()).document.choose.len(), 1);
    let strict = VarianceOptions { limit: 0.029, ..options() };
    assert!(found(&many, &strict).document.choose.is_empty());
    let text = found(&many, &strict).render(Format::Text).unwrap();
    assert!(text.contains("none: every setup has a step with a larger CV than 0.029"), "{text}");
}

#[test]
fn repeated_experiments_twins_and_machines() {
    let many = Many::new();
    let twins = [("pg13.7", "13.7", "1GB"), ("pg13.7.aa", "13.7", "1GB")];
    for day in 0..2 {
        let request = Request { day, systems: &twins, blocks: 2, ..Request::default() };
        many.run(&request, &|_, _, _, block| 100.0 + f64::from(block));
    }
    let document = found(&many, &options()).document;
    let setups = &document.workloads[0].setups;
    assert_eq!(setups.len(), 1, "a twin is the same system: {setups:?}");
    assert_eq!((setups[0].setup.as_str(), setups[0].trials), ("pg13.7", [8, 8]));

    many.run(&Request { day: 3, processor: "Other 16", ..Request::default() }, &|_, _, _, _| 50.0);
    let document = found(&many, &options()).document;
    let names: Vec<&str> = document.workloads[0].setups.iter().map(|s| s.setup.as_str()).collect();
    assert_eq!(names, ["Example 8", "Other 16"]);

    // The same name with another setting is another setup.
    let changed = [("pg13.7", "13.7", "2GB")];
    many.run(&Request { day: 4, systems: &changed, ..Request::default() }, &|_, _, _, _| 70.0);
    let names: Vec<String> = found(&many, &options()).document.workloads[0]
        .setups
        .iter()
        .map(|setup| setup.setup.clone())
        .collect();
    assert_eq!(
        names,
        ["Example 8 (from experiment 1)", "Example 8 (from experiment 4)", "Other 16"]
    );

    // Named machines; two directories.
    let other = Many::new();
    other.run(&Request::default(), &|_, _, _, _| 50.0);
    let named = |store, machine: &str| Source {
        store,
        directory: String::new(),
        machine: Some(machine.to_owned()),
    };
    let sources = [named(&many.store, "m5.2xl.ht0"), named(&other.store, "m5.2xl.ht1")];
    let options = VarianceOptions { chosen: Chosen::Named(vec!["1".to_owned()]), ..options() };
    let document = variance(&sources, &options).unwrap().document;
    let names: Vec<&str> = document.workloads[0].setups.iter().map(|s| s.setup.as_str()).collect();
    assert_eq!(names, ["m5.2xl.ht0", "m5.2xl.ht1"]);
}

#[test]
fn too_little_is_said() {
    let many = Many::new();
    let error = |many: &Many, options: &VarianceOptions| {
        variance(&many.sources(), options).map(|_| ()).unwrap_err()
    };
    let default = options();
    assert!(matches!(error(&many, &default), ReportError::NoExperiment));
    many.run(&Request { blocks: 1, ..Request::default() }, &|_, _, _, _| 5.0);
    assert!(matches!(error(&many, &default), ReportError::TooFewTrials));
    let wrong = VarianceOptions { metric: "nonsense".to_owned(), ..options() };
    assert!(error(&many, &wrong).to_string().contains("cpu/o, o/s"));
    let wrong = VarianceOptions { steps: vec!["l.i9".to_owned()], ..options() };
    assert!(
        matches!(error(&many, &wrong), ReportError::UnknownStep { asked, .. } if asked == "l.i9")
    );
    let limit = VarianceOptions { limit: 3.0, ..options() };
    assert!(matches!(error(&many, &limit), ReportError::BadLimit { .. }));
    // One setup with two trials and one with a single one.
    let systems = [("a", "13.7", "1GB")];
    many.run(
        &Request { blocks: 2, day: 1, systems: &systems, ..Request::default() },
        &|_, _, _, _| 5.0,
    );
    let document = found(&many, &default).document;
    assert!(
        document.notes[0].contains("fewer than 2 trials of a step: pg13.7 dop=1"),
        "{document:?}"
    );
    assert!(document.notes[1].contains("from only 2 trials"), "{document:?}");
    assert_eq!(document.workloads[0].setups[0].max, None);
}

#[test]
fn a_machine_that_spoils_the_mean_of_all_is_named() {
    let noisy = |noise: [f64; 4]| {
        let many = Many::new();
        for (place, machine) in ["aa", "bb", "cc", "dd"].into_iter().enumerate() {
            let request = Request { machine, ..Request::default() };
            many.run(&request, &|_, _, _, block| 10_000.0 * spread(noise[place], block));
        }
        let options = VarianceOptions { chosen: Chosen::All, ..options() };
        let found = found(&many, &options);
        let text = found.render(Format::Text).unwrap();
        assert_eq!(text.contains("Which to leave out"), !found.document.leave_out.is_empty());
        found.document.leave_out.into_iter().map(|it| it.machine).collect::<Vec<_>>()
    };
    // Of four, one must have 7/16 of the sum of all variances.
    assert_eq!(noisy([0.01, 0.01, 0.01, 0.014]).len(), 0);
    let left = noisy([0.01, 0.05, 0.01, 0.01]);
    assert!(left.len() == 1 && left[0].contains("bb"), "{left:?}");
}
