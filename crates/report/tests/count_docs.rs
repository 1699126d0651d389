//! The documentation of the JSON of counts matches the program's output.
use crate::common::counts::{BASE, Counting, build, options};
use crate::common::documented::{assert_is_example, assert_keys_explained, before_example};
use report::{CountOptions, Format};

/// Two versions, one kind of statement, two functions.
fn example() -> String {
    let counting = Counting::new(&["pg13.7", "pg14.3"]);
    let slower = build(|cost| match cost.0 {
        "ExecInterpExpr" => cost.4 += 82,
        "heap_insert" => cost.0 = "heap_multi_insert",
        _ => {}
    });
    counting.all(&[("insert-100", 100)], &[Some(BASE.to_vec()), Some(slower)]);
    counting.warn("builds-differ", "pg14.3 was compiled by gcc 13.2, pg13.7 by gcc 12.2");
    let options = CountOptions { functions: 2, ..options() };
    counting.report_with(&options).render(Format::Json).unwrap()
}

#[test]
fn the_example_is_what_the_program_prints() {
    let found = example();
    assert_is_example(&found, "documented-count.json", "count-json.md");
    let back: report::CountDocument = serde_json::from_str(&found).unwrap();
    assert_eq!(serde_json::to_string_pretty(&back).unwrap() + "\n", found);
}

#[test]
fn every_key_is_explained() {
    assert_keys_explained(&example(), &before_example("count-json.md"), "docs/count-json.md");
}
