//! Commands about many trials: variance, history, advise.

use serde_json::Value;

use crate::place::Place;
use crate::plans::{BOTH, ONE, plan};

fn json(place: &Place, arguments: &[&str]) -> Value {
    let ended = place.steelyard(&[arguments, &["--format", "json"]].concat());
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn variance_history_and_advice_of_real_runs() {
    let place = Place::new();
    let steps = "steps = [\"l.i0\", \"l.x\", \"qp100\"]\nread_write_seconds = 2";
    let file = place.plan(&plan(BOTH, "blocks = 2", steps));
    place.run(&[&file]).expect(0, &[]);
    place.run(&[&file, "--blocks", "1"]).expect(0, &[]);

    let variance = place.steelyard(&["variance"]);
    variance.expect(0, &[]);
    for part in ["population deviation", "Max coefficient", "dop=1", "Which to choose", "Within"] {
        assert!(variance.stdout.contains(part), "`{part}` is missing in:\n{}", variance.stdout);
    }
    let document = json(&place, &["variance", "--deviation", "sample", "--limit", "0.5"]);
    let setups = document["workloads"][0]["setups"].as_array().unwrap();
    assert_eq!(setups.len(), 2);
    for setup in setups {
        assert_eq!(setup["trials"], serde_json::json!([3, 3]), "experiments of two blocks and one");
        assert!(setup["max"].as_f64().unwrap() >= setup["mean"].as_f64().unwrap());
    }
    assert_eq!(document["deviation"], "sample");

    let history = place.steelyard(&["history"]);
    history.expect(0, &[]);
    let (old, new) = (history.stdout.find("13.7").unwrap(), history.stdout.find("14.3").unwrap());
    assert!(old < new, "{}", history.stdout);
    let document = json(&place, &["history", "qp100", "--by", "date", "--metric", "cpu/o"]);
    assert_eq!(document["runs"].as_array().unwrap().len(), 2);
    assert_eq!(document["lines"].as_array().unwrap().len(), 2);
    assert_eq!(document["lines"][0]["steps"][0]["name"], "qp100");
    for format in ["text", "markdown", "csv"] {
        for command in ["variance", "history"] {
            let ended = place.steelyard(&[command, "--format", format]);
            ended.expect(0, &[]);
            assert!(ended.stdout.contains("l.i0"), "{command} as {format}:\n{}", ended.stdout);
        }
    }
    advise(&place, &file);
    report(&place);
    requests(&place, &file);
}

fn advise(place: &Place, file: &str) {
    let advised = place.path().join("advised.toml");
    let output = advised.to_str().unwrap();
    let advice = place.steelyard(&["advise", file, "--budget", "30m", "-o", output]);
    advice.expect(0, &[]);
    assert!(advice.stdout.contains("blocks ="), "{}", advice.stdout);
    let plan = plan::Plan::read(&advised).unwrap();
    assert!(plan.blocks >= 6, "{} blocks", plan.blocks);
    let document = json(place, &["advise", file, "--budget", "30m"]);
    assert!(document["time"].as_f64().unwrap() <= 1800.0, "{document}");
    assert_eq!(document["steps"].as_array().unwrap().len(), 3);
    // Reads and checks it as a run would.
    place.run(&[output, "--write-plan"]).expect(0, &[]);
}

fn report(place: &Place) {
    let path = place.path().join("h.html");
    let report = place.steelyard(&[
        "report",
        "--history",
        "--by",
        "version",
        "-e",
        "1",
        "-o",
        path.to_str().unwrap(),
    ]);
    if !report::has_page() {
        testing::skip("built without the page; make build builds it");
        return report.expect(2, &["make build"]);
    }
    report.expect(0, &[]);
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains(r#""history":{"#) && page.contains(r#""order":"version""#));
}

fn requests(place: &Place, file: &str) {
    place.steelyard(&["variance", "--limit", "3"]).expect(2, &["0.03"]);
    place.steelyard(&["variance", "--metric", "speed"]).expect(2, &["speed", "o/s"]);
    place.steelyard(&["variance", "--machine", "a", "--machine", "b"]).expect(2, &["--machine"]);
    place.steelyard(&["history", "l.i9"]).expect(2, &["l.i9", "qp100"]);
    place.steelyard(&["history", "-e", "nobody"]).expect(2, &["nobody"]);
    place.steelyard(&["history", "--by", "commit"]).expect(2, &["commit", "pg13.7"]);
    place.steelyard(&["history", "--by", "date", "--commits", "x"]).expect(2, &["--commits"]);
    let commits = place.file("commits", "abc1234\nnonsense\n");
    place.steelyard(&["history", "--commits", &commits]).expect(2, &["nonsense"]);
    place.steelyard(&["report", "--by", "date"]).expect(2, &["--history"]);
    place.steelyard(&["advise", file, "--budget", "1s"]).expect(2, &["two blocks"]);
    place.steelyard(&["advise", file, "--budget", "soon"]).expect(2, &["soon", "1h30m"]);
    place.steelyard(&["advise", file, "--budget", "1h", "-o", file]).expect(2, &["-o"]);
    let other = place.file("other.toml", &plan(ONE, "", "partitions = 3"));
    let command = format!("steelyard run {other} --blocks 3 --results ");
    place.steelyard(&["advise", &other, "--budget", "1h"]).expect(2, &["pilot", &command]);
}

#[test]
fn nothing_to_show_is_said() {
    let place = Place::new();
    let results = place.results();
    let none = ["--results", results.to_str().unwrap()];
    for command in ["variance", "history"] {
        place.steelyard(&[&[command], &none[..]].concat()).expect(2, &["steelyard"]);
    }
    // One trial has no deviation; its history has one run.
    let file = place.plan(&plan(ONE, "", "steps = [\"l.i0\"]"));
    place.run(&[&file]).expect(0, &[]);
    place.steelyard(&["variance"]).expect(2, &["at least 2 finished trials"]);
    let history = place.steelyard(&["history"]);
    history.expect(0, &[]);
    assert!(history.stdout.contains("at least 8 are needed"), "{}", history.stdout);
}
