//! Runs that decide for themselves how many blocks they need.

use nix::sys::signal::Signal;

use crate::database::Database;
use crate::place::Place;
use crate::plans::{ONE, plan};

/// 13.7 against itself, and against itself with a pause of 0.1 s before each commit. With a margin
/// of next to nothing noise hardly ever decides the first within a few blocks; the second is
/// decided at once, unless the machine is very noisy.
const PAUSED: &str = r#"
name = "adaptive"
seed = 7
margin = 0.0001
blocks = 6
max_blocks = 7
# However busy the host is.
steal_limit = 1

[config]
shared_buffers = "16MB"
commit_siblings = 0

[variants.base]
dbms = "postgres@13.7"

[variants.same]
dbms = "postgres@13.7"

[variants.paused]
dbms = "postgres@13.7"
config = { commit_delay = 100000 }

[workload.insert]
rows = 3000
steps = ["l.i0"]
"#;

fn warnings(database: &Database) -> Vec<String> {
    database.texts("SELECT code FROM warning WHERE trial_id IS NULL")
}

#[test]
fn blocks_are_added_for_what_is_undecided_also_after_an_interruption() {
    let place = Place::new();
    let file = place.plan(PAUSED);
    let mut run = place.start_run(&[&file]);
    run.wait_for("adaptive: 1 step, measured in 18 trials", "\ntrial 18/18");
    run.wait_for("trial 18/18", "6 blocks");
    run.signal(Signal::SIGINT);
    let ended = run.end();
    let all = "every comparison was decided after";
    // Whatever noise does to the first look, further blocks cover only undecided comparisons.
    let again: Vec<&str> = match ended.stderr.split_once("  next: 1 more block of ") {
        None => {
            assert!(ended.stderr.contains(&format!("{all} 6 blocks")), "{}", ended.stderr);
            // It was ending when the signal came.
            assert!(matches!(ended.code, Some(0 | 3)), "{}", ended.stderr);
            if ended.code == Some(3) {
                place.run(&["--resume"]).expect(0, &[all]);
            }
            Vec::new()
        }
        Some((before, after)) => {
            let next: Vec<&str> = after.lines().next().unwrap().split(", ").collect();
            let (_, look) = before.rsplit_once("look after 6 blocks: ").unwrap();
            let open = next.iter().filter(|name| look.contains(&format!("{name} l.i0 ±"))).count();
            assert_eq!(next[0], "base", "{next:?}");
            assert_eq!(open, next.len() - 1, "{look}");
            let look = format!("{} of 2 comparisons decided; undecided: ", 2 - open);
            // The signal may come before the next trial has begun.
            ended.expect(3, &[&look]);
            // Without the plan: the stored one knows that the run is adaptive.
            let trials = 18 + next.len();
            place.run(&["--resume"]).expect(0, &[&look, &format!("trial {trials}/{trials}")]);
            next
        }
    };
    let database = Database::of(&place.results());
    let finished = database.finished();
    for variant in ["base", "same", "paused"] {
        let last = if again.contains(&variant) { 7 } else { 6 };
        let mut found: Vec<i64> =
            finished.iter().filter(|t| t.variant == variant).map(|t| t.block).collect();
        found.sort_unstable();
        assert_eq!(found, (1..=last).collect::<Vec<_>>(), "{variant}");
    }
    assert_eq!(database.texts("SELECT state FROM experiment"), ["finished"]);
    let compared = place.steelyard(&["compare"]);
    compared.expect(0, &[]);
    let warnings = warnings(&database);
    let told = match &warnings.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["block-limit"] if !again.is_empty() => {
            "the run ended at its limit of 7 blocks with undecided comparisons: "
        }
        ["all-decided"] => all,
        other => panic!("{other:?}"),
    };
    assert!(compared.stdout.contains(told), "{}", compared.stdout);
    let json = place.steelyard(&["compare", "--format", "json"]);
    json.expect(0, &[]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let comparisons = document["metrics"][0]["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2, "{document}");
    let margin = document["margin"].as_f64().unwrap();
    let (least, most) = (1.0 - margin, 1.0 + margin);
    for found in comparisons {
        let [low, high] = ["low", "high"].map(|end| found[end].as_f64().unwrap());
        // Wholly outside the margin, or wholly inside.
        let decided = high < least || low > most || (low >= least && high <= most);
        assert!(decided || told != all, "{found}");
    }
    let open = comparisons.iter().any(|found| found["verdict"] == "inconclusive");
    assert_eq!(open, told != all, "{document}");
    drop(database);
    place.run(&["--resume"]).expect(2, &["no unfinished experiment"]);
}

#[test]
fn every_variant_can_run_twice() {
    let place = Place::new();
    let file = place.plan(&plan(ONE, "", "rows = 2000\nsteps = [\"l.i0\"]"));
    place.run(&[&file, "--aa", "--blocks", "1"]).expect(0, &["trial 2/2", "pg13.7.aa"]);
    let database = Database::of(&place.results());
    let variants = database.texts("SELECT name FROM variant ORDER BY position");
    assert_eq!(variants, ["pg13.7", "pg13.7.aa"]);
    let stored = database.texts("SELECT plan FROM experiment");
    assert!(stored[0].contains("twin_of = \"pg13.7\""), "{}", stored[0]);
}

#[test]
fn options_change_a_plan_and_its_short_form() {
    let place = Place::new();
    let options = [
        "--blocks",
        "4",
        "--margin",
        "3%",
        "--precision",
        "1.5%",
        "--max-blocks",
        "12",
        "--budget",
        "90m",
        "--pairing",
        "auto",
        "--aa",
        "--write-plan",
    ];
    let short = ["insert", "-v", "postgres@13.7", "-v", "postgres@14.3"];
    let written = place.run(&[&short[..], &options[..]].concat());
    written.expect(0, &[]);
    let first = plan::Plan::parse(&written.stdout, None, "written").unwrap();
    assert_eq!((first.blocks, first.max_blocks), (4, Some(12)));
    assert!((first.margin - 0.03).abs() < 1e-12);
    assert!(first.precision.is_some_and(|share| (share - 0.015).abs() < 1e-12));
    assert_eq!(first.budget.map(|time| time.as_secs()), Some(5_400));
    assert_eq!((first.pairing, first.variants.len()), (plan::Pairing::Auto, 4));
    let file = place.plan(&place.run(&[&short[..], &["--write-plan"]].concat()).stdout);
    let again = place.run(&[&[file.as_str()][..], &options[..]].concat());
    assert_eq!(again.stdout, written.stdout);

    let wrong = |options: &[&str], parts: &[&str]| {
        place.run(&[&[file.as_str()], options].concat()).expect(2, parts);
    };
    wrong(&["--precision", "200"], &["expected a share such as 2% or 2", "found `200`"]);
    wrong(&["--precision", "0.02"], &["write `2%` or `0.02%`"]);
    wrong(&["--budget", "two hours"], &["`two hours` is not a time", "1h30m"]);
    wrong(
        &["--max-blocks", "5"],
        &["plan.toml: `--max-blocks`: `max_blocks` = 5 is less than `blocks` = 6"],
    );
    wrong(&["--pairing", "stripes"], &["blocks, slices, frozen, auto"]);
    place.run(&["--resume", "--blocks", "9"]).expect(2, &["keeps its plan"]);
}
