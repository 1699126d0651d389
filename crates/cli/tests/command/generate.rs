//! Man pages, completions and versions.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::place::Place;

#[test]
fn each_command_has_a_man_page() {
    let place = Place::new();
    let pages = place.path().join("share/man1");
    place.steelyard(&["generate", "man", &pages.to_string_lossy()]).expect(0, &[]);
    let help = place.steelyard(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // Further lines of a description begin farther to the right.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"run") && names.contains(&"compare"), "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let page = fs::read_to_string(pages.join(format!("steelyard-{name}.1"))).unwrap();
        assert!(page.contains(".TH steelyard"), "{page}");
    }
    let run = fs::read_to_string(pages.join("steelyard-run.1")).unwrap();
    for part in ["\\-\\-budget", ".SH EXAMPLES", ".SH \"OPTIONS OF INSERT\"", "\\-\\-indexed"] {
        assert!(run.contains(part), "{part}: {run}");
    }
    assert!(!pages.join("steelyard-engine.1").exists());
}

/// docs/commands.md is what the program says: `GOLDEN=update` writes it.
#[test]
fn the_reference_of_commands_is_that_of_the_program() {
    let printed = Place::new().steelyard(&["generate", "reference"]);
    printed.expect(0, &[]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "update") {
        fs::write(&file, &printed.stdout).unwrap();
    }
    let page = fs::read_to_string(&file).unwrap();
    assert!(page == printed.stdout, "docs/commands.md is stale: write it with GOLDEN=update");
    for text in ["## run\n", "## generate man\n", "`--budget ", "## compare\n"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("## engine"), "a hidden command");
}

/// What the command answers a shell that completes the last of these words.
fn completed(place: &Place, words: &[&str]) -> Vec<String> {
    let mut command = place.command(&[&["--", "steelyard"], words].concat());
    let told = command.env("STEELYARD_COMPLETE", "fish").output().unwrap();
    assert!(told.status.success() && told.stderr.is_empty(), "{words:?}: {told:?}");
    let text = String::from_utf8(told.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn shells_complete_versions_plans_steps_and_experiments() {
    let place = Place::new();
    let times = r#""mean":1.02,"times":[1.01,1.02,1.03]"#;
    let both =
        format!(r#"{{"results":[{{"command":"old",{times}}},{{"command":"new",{times}}}]}}"#);
    let both = place.file("both.json", &both);
    let import = ["import", "--variant-from", "command", "--name", "tuesday", &both];
    place.steelyard(&import).expect(0, &[]);
    place.plan("");
    for (words, found) in [
        (&["run", "insert", "-v", "postg"][..], "postgres@"),
        (&["run", "insert", "-v", "postgres@13."], "postgres@13.7"),
        (&["run", "insert", "-v", "old=rocksdb@"], "old=rocksdb@10.10.1"),
        (&["fetch", "mysql@5.7"], "mysql@5.7.22"),
        (&["run", "ins"], "insert"),
        (&["run", "pl"], "plan.toml"),
        (&["count", "pl"], "plan.toml"),
        (&["run", "insert", "--steps", "l.i0,qr1"], "l.i0,qr100"),
        (&["run", "insert", "--indexed"], "--indexed-rows"),
        (&["compare", "-e", "tue"], "tuesday"),
        (&["rm", ""], "1"),
        (&["compare", "--metric", "p95,dbms.cp"], "p95,dbms.cpu/o"),
        (&["compare", "--by", "mach"], "machine"),
    ] {
        let told = completed(&place, words);
        assert!(told.iter().any(|one| one == found), "{words:?}: {told:?}");
    }
    for words in [&["compare", "-e", "zz"][..], &["run", "insert", "-v", "nothing@1"]] {
        assert_eq!(completed(&place, words), [""; 0], "{words:?}");
    }
}

#[test]
fn shells_take_their_scripts() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = place.steelyard(&["generate", "completions", shell]);
        text.expect(0, &[]);
        assert!(text.stdout.contains("STEELYARD_COMPLETE"), "{}", text.stdout);
    }
    // The line up to the cursor, its words as bash splits it, and what is replaced.
    let bash = place.steelyard(&["generate", "completions", "bash"]).stdout;
    let script = place.file("completions.bash", &bash);
    for (line, words, last, found) in [
        ("steelyard comp", "steelyard comp", "comp", "compare"),
        ("steelyard compare --tab", "steelyard compare --tab", "--tab", "--tables"),
        ("steelyard fetch old", "steelyard fetch old", "old", ""),
        ("steelyard fetch  mysql@5.7", "steelyard fetch mysql @ 5.7", "@5.7", "@5.7.22"),
        (
            "steelyard run kv -v a=rocksdb@7.4",
            "steelyard run kv -v a = rocksdb @ 7.4",
            "@7.4",
            "@7.4.5",
        ),
        ("steelyard run kv -v a=ge", "steelyard run kv -v a = ge", "ge", ""),
        ("steelyard run kv -v a=gi", "steelyard run kv -v a = gi", "gi", "git:"),
    ] {
        let asked = format!(
            "source {script}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; \
             COMP_WORDS=({words}); _steelyard steelyard {last} x 2> /dev/null; \
             echo \"${{COMPREPLY[*]}}\""
        );
        let program = assert_cmd::cargo::cargo_bin!("steelyard").parent().unwrap().to_owned();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let told = Command::new("bash").args(["-c", &asked]).env("PATH", path).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), found, "{line}: {told:?}");
    }
}

#[test]
fn the_long_version_says_what_this_program_can_do() {
    let place = Place::new();
    let short = place.steelyard(&["-V"]).stdout;
    assert!(short.starts_with(concat!("steelyard ", env!("CARGO_PKG_VERSION"))), "{short}");
    assert_eq!(short.lines().count(), 1);
    let long = place.steelyard(&["--version"]).stdout;
    for part in ["\ncommit:   ", std::env::consts::ARCH, "-gnu\n", "\nengines:  yes\n"] {
        assert!(long.contains(part), "{part}: {long}");
    }
}
