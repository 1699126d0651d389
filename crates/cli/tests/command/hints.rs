//! Commands that messages offer can be pasted.

use crate::import::{file, pgbench, text};
use crate::place::Place;

#[test]
fn steps_with_labels_are_explained_by_the_commands_that_are_told() {
    let place = Place::new();
    let simple = file(&place, "simple.txt", &pgbench(1000.0));
    let prepared = pgbench(1200.0).replace("query mode: simple", "query mode: prepared");
    let prepared = file(&place, "prepared.txt", &prepared);
    for name in ["first", "second"] {
        let all = ["import", "--name", name, "--variant", "a", &simple, &prepared];
        place.steelyard(&all).expect(0, &[]);
    }
    let results = place.results().display().to_string();
    for asked in [&["explain"][..], &["explain", "TPC-B{simple}"], &["explain", "-e", "first"]] {
        let ended = place.steelyard(asked);
        ended.expect(2, &["expected"]);
        let commands: Vec<Vec<String>> = ended
            .stderr
            .lines()
            .filter_map(|line| shlex::split(line.strip_prefix("  steelyard ")?))
            .collect();
        assert_eq!(commands.len(), 2, "{}", ended.stderr);
        for words in commands {
            assert!(words[1].contains("query-mode="), "{words:?}");
            assert_eq!(words.contains(&"first".to_owned()), asked.len() == 3, "{words:?}");
            assert!(words.contains(&results), "{words:?}");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let explained = place.steelyard(&words);
            explained.expect(0, &[]);
            // Nothing of it can be counted.
            assert!(!explained.stdout.contains("steelyard count"), "{}", explained.stdout);
        }
    }
}

#[test]
fn what_can_be_asked_of_an_import_is_told() {
    let place = Place::new();
    let two = file(&place, "two commands.json", &text("hyperfine-1.15-two.json"));
    let import = place.steelyard(&["import", &two, "--name", "sleeps"]);
    import.expect(0, &[]);
    let command = "steelyard import --variant-from command 'two commands.json' --name sleeps";
    assert!(import.stdout.contains(&format!("to compare them: {command}\n")), "{}", import.stdout);
    // As variants, or with another file to compare with, there is nothing to ask for.
    let other = file(&place, "other.json", &text("hyperfine-1.15-two.json"));
    for asked in [&["--variant-from", "command", &*two][..], &[&two, &other]] {
        let import = place.steelyard(&[&["import"], asked].concat());
        import.expect(0, &[]);
        assert!(!import.stdout.contains("to compare them"), "{}", import.stdout);
    }
    let mixed = file(&place, "a.txt", &pgbench(1000.0));
    let sysbench = file(&place, "b.txt", &text("sysbench-rate.txt"));
    let import = place.steelyard(&["import", &mixed, &sysbench]);
    import.expect(0, &[]);
    let said = "warning: the files are of different programs (pgbench in a.txt, sysbench in b.txt)";
    assert!(import.stdout.contains(said), "{}", import.stdout);
    let compared = place.steelyard(&["compare", "--brief"]);
    assert!(compared.stdout.contains("\n! programs-differ: "), "{}", compared.stdout);
    // Help and errors name the same formats.
    let help = place.steelyard(&["help", "import"]).stdout;
    let wrong = place.steelyard(&["import", "--format", "tables", &mixed]);
    wrong.expect(2, &["did you mean \"table\"", "table (a published one"]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&help).contains(&words(&foreign::Format::known())), "{help}");
}
