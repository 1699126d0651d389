//! A script with every construct, and what the commands of scripts do.

use std::fmt::Write as _;

use script::{Action, Inside, Piece, Protocol, Script, Symbols, check, parse};

const EVERYTHING: &str = include_str!("fixtures/everything.sql");

/// One line for each command, plus those of SQL texts.
fn listed(script: &Script, symbols: &Symbols) -> String {
    let mut list = String::new();
    for command in &script.commands {
        write!(list, "{}:{} #{} ", command.place.line, command.place.column, command.number)
            .unwrap();
        match &command.action {
            Action::Set { slot, .. } => write!(list, "set {}", symbols.name(*slot)).unwrap(),
            Action::Choose { slot, .. } => write!(list, "choose {}", symbols.name(*slot)).unwrap(),
            Action::Branch { otherwise, .. } => write!(list, "else go to {otherwise}").unwrap(),
            Action::Jump(to) => write!(list, "go to {to}").unwrap(),
            Action::Sleep(sleep) => {
                write!(list, "sleep {:?} * {}", sleep.time, sleep.unit).unwrap()
            }
            Action::StartPipeline => list.push_str("start"),
            Action::SyncPipeline => list.push_str("sync"),
            Action::EndPipeline => list.push_str("end"),
            Action::Sql(sql) => {
                write!(list, "{}: ", sql.word).unwrap();
                for piece in &sql.pieces {
                    match piece {
                        Piece::Text(text) => list.push_str(text),
                        Piece::Variable { slot, inside: Inside::Nothing } => {
                            write!(list, "{{{}}}", symbols.name(*slot)).unwrap();
                        }
                        Piece::Variable { slot, inside } => {
                            write!(list, "{{{} in {inside:?}}}", symbols.name(*slot)).unwrap();
                        }
                    }
                }
                if let Some(store) = &sql.store {
                    write!(list, " -> {:?} {}", store.of, store.prefix).unwrap();
                }
            }
        }
        list.push('\n');
    }
    list
}

#[test]
fn every_construct_becomes_its_command() {
    let mut symbols = Symbols::new();
    let script = parse("everything.sql", EVERYTHING, &mut symbols).unwrap();
    assert_eq!(listed(&script, &symbols), include_str!("fixtures/everything.txt"));
}

#[test]
fn scripts_survive_json() {
    let mut symbols = Symbols::new();
    let script = parse("everything.sql", EVERYTHING, &mut symbols).unwrap();
    let json = serde_json::to_string(&(&script, &symbols)).unwrap();
    let read: (Script, Symbols) = serde_json::from_str(&json).unwrap();
    assert_eq!(read, (script, symbols));
    // Also if it is as deep as can be.
    let mut symbols = Symbols::new();
    let text = format!("\\set x {}1{}", "abs(:scale + ".repeat(15), ")".repeat(15));
    let script = parse("deep", &text, &mut symbols).unwrap();
    let json = serde_json::to_string(&[[&script]]).unwrap();
    assert_eq!(serde_json::from_str::<[[Script; 1]; 1]>(&json).unwrap(), [[script]]);
}

/// The lines that a script's SQL commands send.
fn run(text: &str) -> Vec<String> {
    let mut symbols = Symbols::new();
    symbols.define("n");
    symbols.define("t");
    let script = parse("run", text, &mut symbols).unwrap();
    check(std::slice::from_ref(&script), &symbols, Protocol::Simple).unwrap();
    let mut variables = script::initial(&symbols, [1, 7, 3, 4], [("n", "5"), ("t", "007")]);
    let (mut at, mut sent) = (0, Vec::new());
    while let Some(command) = script.commands.get(at) {
        at += 1;
        match &command.action {
            Action::Set { slot, expr } => {
                variables[slot.index()] = expr.evaluate(&variables, &mut || 0).unwrap().into();
            }
            Action::Branch { condition, otherwise } => {
                let holds = condition.evaluate(&variables, &mut || 0).unwrap().truth();
                at = if holds { at } else { *otherwise };
            }
            Action::Jump(to) => at = *to,
            Action::Sql(sql) => {
                let mut bytes = Vec::new();
                sql.simple(&symbols, &variables, false, &mut bytes);
                sent.push(String::from_utf8(bytes).unwrap());
            }
            _ => {}
        }
    }
    sent
}

#[test]
fn conditions_choose_commands() {
    let text = "\\if :n > 5\na;\n\\elif :n = 5\nb;\n\\if null\nc;\n\\else\nd;\n\\endif\n\\elif true\ne;\n\
                \\else\nf;\n\\endif\ng;";
    assert_eq!(run(text), ["b;", "d;", "g;"]);
    assert_eq!(run(&text.replace(":n = 5", "0")), ["e;", "g;"]);
    assert_eq!(run(&text.replace(":n = 5", "0").replace("true", "0.0")), ["f;", "g;"]);
    assert_eq!(run(&text.replace(":n > 5", "1")), ["a;", "g;"]);
}

#[test]
fn values_are_written_as_pgbench_writes_them() {
    let text = "\\set b :n > 1\n\\set d :n / 4.0\n\\set z NULL\n\
                SELECT :n, :t, :b, :d, :z, ':n', ':unknown', '\\:n' \\:n :client_id, a::b;";
    let sent = "SELECT 5, 007, true, 1.25, NULL, '5', ':unknown', '\\5' 5 7, a::b;";
    assert_eq!(run(text), [sent]);
    assert_eq!(run("\\set x :t + 1\nSELECT :x"), ["SELECT 8"]);
}

#[test]
fn parameters_are_numbered_in_order() {
    let mut symbols = Symbols::new();
    let text = "\\set a 1\n\\set b 2\nSELECT :a, :b, :a, '1:x' -- :a\n;";
    let script = parse("numbered", text, &mut symbols).unwrap();
    let Action::Sql(sql) = &script.commands[2].action else { panic!() };
    let numbered = sql.numbered(&symbols, |n| format!("${n}")).unwrap();
    assert_eq!(numbered.text, "SELECT $1, $2, $3, '1:x' -- :a\n;");
    let names: Vec<_> = numbered.parameters.iter().map(|slot| symbols.name(*slot)).collect();
    assert_eq!(names, ["a", "b", "a"]);
}

#[test]
fn variables_are_shared_by_scripts() {
    let mut symbols = Symbols::new();
    let one = parse("one", "\\set x 1\nSELECT 1;", &mut symbols).unwrap();
    let other = parse("other", "SELECT :x;", &mut symbols).unwrap();
    check(&[other, one], &symbols, Protocol::Extended).unwrap();
}
