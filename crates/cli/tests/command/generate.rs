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
    assert!(run.contains("\\-\\-budget"), "{run}");
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

#[test]
fn shells_understand_their_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = place.steelyard(&["generate", "completions", shell]);
        text.expect(0, &[]);
        assert!(text.stdout.contains("budget"), "{}", text.stdout);
    }
    // What follows `steelyard comp` and `steelyard compare --tab`.
    let bash = place.steelyard(&["generate", "completions", "bash"]).stdout;
    let file = place.path().join("completions.bash");
    fs::write(&file, bash).unwrap();
    for (words, last, found) in [
        ("steelyard comp", "comp", "compare"),
        ("steelyard compare --tab", "--tab", "--tables"),
        ("steelyard compare --by mach", "mach", "machine"),
    ] {
        let script = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _steelyard steelyard {last} ${{COMP_WORDS[COMP_CWORD - 1]}}; echo ${{COMPREPLY[*]}}",
            file.display()
        );
        let told = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), found, "{words}: {told:?}");
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
