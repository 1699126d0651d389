//! Formats by name.

use foreign::Format;

use crate::fixtures::WORDS;

fn parse(name: &str) -> Result<String, String> {
    name.parse::<Format>().map(|format| format.to_string()).map_err(|error| error.to_string())
}

#[test]
fn every_name_stands_for_itself() {
    let more = ["json:/a/0", "json:", r"regex:^tps = (\d+)"];
    for name in WORDS.into_iter().chain(more) {
        assert_eq!(parse(name), Ok(name.to_owned()));
    }
}

#[test]
fn an_unknown_name_gets_the_nearest_known() {
    assert!(parse("pg_bench").unwrap_err().contains("did you mean \"pgbench\"?"));
    assert!(parse("dbbench").unwrap_err().contains("did you mean \"db_bench\"?"));
    let far = parse("ycsb-of-somebody").unwrap_err();
    assert!(!far.contains("did you mean") && far.contains("rocksdb-report"), "{far}");
}

#[test]
fn pointers_and_patterns_are_checked() {
    assert!(parse("json:a").unwrap_err().contains("json:/a"));
    assert!(parse("regex:(").unwrap_err().contains("unclosed group"));
    assert!(parse("regex:tps").unwrap_err().contains("no group"));
}
