//! A dash in place of a file.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::place::Place;

/// Output of a test of go, at 5 and at 6 ns/op.
const OUTPUT: &str = "BenchmarkA \t 10\t 5 ns/op\nBenchmarkA \t 10\t 6 ns/op\nPASS\n";

/// Runs a command with something on its standard input.
fn piped(place: &Place, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = place.command(arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(output.status.success(), "{stdout}{stderr}");
    stdout.into_owned()
}

/// Asserts that no file is named like a dash.
fn no_dash(place: &Place) {
    assert!(!place.path().join("-").exists());
}

#[test]
fn an_experiment_goes_through_a_pipe() {
    let place = Place::new();
    let imported = said(&piped(&place, &["import", "-"], OUTPUT.as_bytes()));
    assert!(imported.contains("1 step of stdin, measured in 2 trials (2 blocks)"), "{imported}");
    let archive = piped(&place, &["export", "-o", "-"], b"");
    assert!(archive.status.success() && archive.stderr.is_empty());
    no_dash(&place);
    let other = Place::new();
    let arrived = said(&piped(&other, &["import", "-"], &archive.stdout));
    assert!(arrived.contains("imported `go` as experiment 1"), "{arrived}");
    let again = said(&piped(&other, &["export", "-o", "-", "--format", "csv"], b""));
    assert_eq!(again, said(&piped(&place, &["export", "-o", "-", "--format", "csv"], b"")));
    assert!(again.starts_with("experiment,name,"), "{again}");
    for stdout in ["-", "/dev/stdout"] {
        let page = said(&piped(&other, &["report", "-o", stdout], b""));
        assert!(page.trim_start().starts_with("<!") && page.trim_end().ends_with("</html>"));
    }
    no_dash(&other);
}

#[test]
fn plans_and_messages() {
    let place = Place::new();
    let plan = place.steelyard(&[
        "run",
        "insert",
        "-v",
        "postgres@13.7",
        "-v",
        "postgres@14.3",
        "--write-plan",
    ]);
    plan.expect(0, &[]);
    let read = said(&piped(&place, &["run", "-", "--write-plan"], plan.stdout.as_bytes()));
    assert_eq!(read, plan.stdout);
    let refused = |arguments: &[&str], input: &str, words: &str| {
        let output = piped(&place, arguments, input.as_bytes());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(words), "{words} in {stderr}");
    };
    refused(&["run", "-"], "blocks = 0\n", "stdin:1");
    refused(&["import", "-", "-"], OUTPUT, "can be read only once");
    refused(&["import", "-"], &OUTPUT[..20], "stdin: expected output of a known program");
    refused(&["import", "--format", "go", "-"], &OUTPUT[..30], "stdin: line");
    let damaged = [&::archive::MAGIC[..], b"no more"].concat();
    let damaged = piped(&place, &["import", "-"], &damaged);
    let told = String::from_utf8_lossy(&damaged.stderr);
    assert!(damaged.status.code() == Some(2) && told.contains("stdin is damaged"), "{told}");
    refused(&["setup", "-o", "-"], "", "-o names a directory");
    no_dash(&place);
}
