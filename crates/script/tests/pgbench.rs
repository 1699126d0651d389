//! The same as the real pgbench: values, errors, statements, distributions.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use script::{Action, Host, Scalar, Script, Symbols, Value, parse};

use crate::server::Server;
use crate::{distributions, properties};

/// Values of `:default_seed`, `:scale` and `:random_seed`, and the options that set them.
const BUILT_IN: [i64; 4] = [7, 0, 42, 1234];
const OPTIONS: [&str; 6] = ["-t1", "-s7", "--random-seed=42", "-D", "default_seed=1234", "-c1"];

/// Expressions that have a value.
const VALUES: &str = include_str!("fixtures/values.txt");

/// Expressions without a value, with the messages of pgbench and of this crate.
const ERRORS: &str = include_str!("fixtures/errors.txt");

/// Scripts whose statements are compared, separated by lines of `=`.
const STATEMENTS: &str = include_str!("fixtures/statements.sql");

/// Texts of variables, with the messages for those that have no value.
const TEXTS: [&str; 34] = [
    "0",
    "-0",
    "+5",
    " 7",
    "007",
    "-9223372036854775808",
    "9223372036854775807",
    "1.5",
    ".5",
    "5.",
    "1e3",
    "-1E-3",
    "inf",
    "-Infinity",
    "true",
    "T",
    "tRu",
    "yes",
    "y",
    "on",
    "false",
    "f",
    "no",
    "N",
    "off",
    "of",
    "null",
    "NULL",
    "nUlL",
    "1e308",
    "2.3e-308",
    "0.0",
    "0e0",
    " 1.25",
];
const BAD_TEXTS: [&str; 10] =
    ["", "o", "x", "1x", "+", "9223372036854775808", "1e999", "1e-400", "truex", "1 "];

#[derive(Default)]
struct Seen(Vec<String>);

impl Host for Seen {
    fn bits(&mut self) -> u64 {
        0
    }

    fn debug(&mut self, value: Scalar) {
        // As pgbench prints it, apart from where it is.
        self.0.push(match value {
            Scalar::Null => "null".to_owned(),
            other => format!("{} {other}", other.kind()),
        });
    }
}

/// The values that this crate passes to `debug()`, or the message of the first error.
fn ours(text: &str, given: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let mut symbols = Symbols::new();
    for (name, _) in given {
        symbols.define(name);
    }
    let script = parse("ours", text, &mut symbols).map_err(|error| error.to_string())?;
    let mut variables = script::initial(&symbols, BUILT_IN, given.iter().copied());
    let mut seen = Seen::default();
    for command in &script.commands {
        let Action::Set { slot, expr } = &command.action else { panic!("{command:?}") };
        let value = expr.evaluate(&variables, &mut seen);
        variables[slot.index()] = value.map_err(|error| error.explain(&symbols))?.into();
    }
    Ok(seen.0)
}

/// The values that pgbench prints in `debug()`, or its messages if it failed.
fn theirs(server: &Server, text: &str, given: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let given: Vec<String> =
        given.iter().flat_map(|(name, text)| ["-D".to_owned(), format!("{name}={text}")]).collect();
    let options: Vec<&str> = OPTIONS.into_iter().chain(given.iter().map(String::as_str)).collect();
    let printed = server.pgbench(text, &options);
    let values = printed.text.lines().filter_map(|line| {
        line.strip_prefix("debug(script=0,command=")?
            .split_once("): ")
            .map(|(_, rest)| rest.to_owned())
    });
    if printed.success && !printed.text.contains("error:") {
        Ok(values.collect())
    } else {
        Err(printed.text.clone())
    }
}

fn debugged(expressions: &[String]) -> String {
    expressions.iter().map(|expression| format!("\\set v debug({expression})\n")).collect()
}

/// All expressions have the same values here and there.
fn same_values(server: &Server, expressions: &[String]) {
    let text = debugged(expressions);
    let mut ours = Vec::new();
    for expression in expressions {
        let seen = self::ours(&debugged(std::slice::from_ref(expression)), &[]);
        let seen = seen.unwrap_or_else(|error| panic!("{expression}: {error}"));
        ours.extend(seen.into_iter().map(|value| (expression, value)));
    }
    let theirs = theirs(server, &text, &[]).unwrap();
    assert_eq!(ours.len(), theirs.len());
    for ((expression, ours), theirs) in ours.into_iter().zip(theirs) {
        assert_eq!(ours, theirs, "{expression}");
    }
}

fn listed_values(server: &Server) {
    let lines = VALUES.lines().filter(|line| !line.is_empty() && !line.starts_with("--"));
    let expressions: Vec<String> = lines.map(str::to_owned).collect();
    assert!(expressions.len() > 200, "{}", expressions.len());
    same_values(server, &expressions);
}

fn hashes(server: &Server) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut number = || {
        let bits = rng.next_u64();
        // All magnitudes, both signs.
        (bits as i64) >> (rng.next_u64() % 64)
    };
    let mut expressions = Vec::new();
    for _ in 0..300 {
        let (value, seed, size) = (number(), number(), number().saturating_abs().max(1));
        for function in ["hash", "hash_fnv1a", "hash_murmur2"] {
            expressions.push(format!("{function}({value}, {seed})"));
        }
        expressions.push(format!("permute({value}, {size}, {seed})"));
    }
    for edge in [i64::MIN, -1, 0, 1, i64::MAX] {
        for size in [1, 2, 3, 4, 5, 1 << 62, i64::MAX] {
            expressions.push(format!("permute({edge}, {size}, {edge})"));
            expressions.push(format!("permute({edge}, {size})"));
        }
        expressions.push(format!("hash({edge})"));
        expressions.push(format!("hash_fnv1a({edge})"));
    }
    same_values(server, &expressions);
}

/// Operators in any order without parentheses, so that precedence decides.
fn precedence(server: &Server) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut pick = |words: &[&'static str]| words[(rng.next_u64() % words.len() as u64) as usize];
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    while good.len() < 2000 {
        let mut text = String::new();
        for at in 0..2 + good.len() % 5 {
            if at > 0 {
                text.push_str(pick(&[
                    " + ", " - ", " * ", " / ", " % ", " < ", " <= ", " > ", " >= ", " = ", " <> ",
                    " != ", " & ", " | ", " # ", " << ", " >> ", " AND ", " or ", " AND ", " or ",
                ]));
            }
            text.push_str(pick(&["", "", "", "", "- ", "~ ", "NOT ", "not - ", "+", "- ~"]));
            text.push_str(pick(&[
                "1", "2", "3", "0", "TRUE", "false", "NULL", "2.5", ":scale", "9",
            ]));
            text.push_str(pick(&[
                "",
                "",
                "",
                "",
                "",
                " IS NULL",
                " is not true",
                " ISNULL",
                " NOTNULL",
                " IS FALSE",
            ]));
        }
        match ours(&debugged(std::slice::from_ref(&text)), &[]) {
            Ok(_) => good.push(text),
            Err(_) if bad.len() < 60 => bad.push(text),
            Err(_) => {}
        }
    }
    same_values(server, &good);
    for text in bad {
        let theirs = theirs(server, &debugged(std::slice::from_ref(&text)), &[]);
        assert!(theirs.is_err(), "{text}: {theirs:?}");
    }
}

fn arithmetic(server: &Server) {
    let (mut runner, strategy) = (TestRunner::deterministic(), properties::known());
    let mut expressions = Vec::new();
    while expressions.len() < 1000 {
        let known = strategy.new_tree(&mut runner).unwrap().current();
        if known.value.is_some()
            && parse("known", &format!("\\set x {}", known.text), &mut Symbols::new()).is_ok()
        {
            expressions.push(known.text);
        }
    }
    same_values(server, &expressions);
}

fn errors(server: &Server) {
    let mut count = 0;
    for line in ERRORS.lines().filter(|line| !line.is_empty() && !line.starts_with("--")) {
        let [expression, their_words, our_words] = line.split("  ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let text = debugged(&[expression.to_owned()]);
        let their = theirs(server, &text, &[]).expect_err(expression);
        assert!(their.contains(their_words), "{expression}: {their}");
        let our = ours(&text, &[]).expect_err(expression);
        assert!(our.contains(our_words), "{expression}: {our}");
        count += 1;
    }
    assert!(count > 40, "{count}");
}

fn texts(server: &Server) {
    let names: Vec<String> = (0..TEXTS.len()).map(|index| format!("v{index}")).collect();
    let given: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(TEXTS).collect();
    let text = debugged(&names.iter().map(|name| format!(":{name}")).collect::<Vec<_>>());
    assert_eq!(ours(&text, &given), theirs(server, &text, &given));
    for bad in BAD_TEXTS {
        let given = [("bad", bad)];
        let text = debugged(&[":bad".to_owned()]);
        assert!(theirs(server, &text, &given).is_err(), "{bad:?}");
        assert!(ours(&text, &given).is_err(), "{bad:?}");
    }
}

/// The statements that a script without conditions sends.
fn sent(text: &str, extended: bool) -> Vec<String> {
    let mut symbols = Symbols::new();
    symbols.define("given");
    let script: Script = parse("sent", text, &mut symbols).unwrap();
    let mut variables = script::initial(&symbols, BUILT_IN, [("given", "a b")]);
    let mut sent = Vec::new();
    for command in &script.commands {
        match &command.action {
            Action::Set { slot, expr } => {
                variables[slot.index()] = expr.evaluate(&variables, &mut || 0).unwrap().into();
            }
            Action::Sql(sql) => {
                let mut bytes = Vec::new();
                sql.simple(&symbols, &variables, false, &mut bytes);
                let text = String::from_utf8(bytes).unwrap();
                sent.push(if extended {
                    sql.numbered(&symbols, |n| format!("${n}")).unwrap().text
                } else {
                    text
                });
                if let Some(store) = &sql.store {
                    // All statements with one return the column x with 5.
                    if let Some(slot) = symbols.slot(&format!("{}x", store.prefix)) {
                        variables.resize(variables.len().max(slot.index() + 1), Value::Unset);
                        variables[slot.index()] = Value::given("5");
                    }
                }
            }
            _ => {}
        }
    }
    sent
}

fn statements(server: &Server) {
    let scripts: Vec<&str> = STATEMENTS.split("====\n").collect();
    assert!(scripts.len() > 5);
    for text in scripts {
        for protocol in ["simple", "extended"] {
            let pipeline = text.contains("pipeline");
            let quoted = text.contains("-- simple only");
            if (protocol == "simple" && pipeline) || (protocol == "extended" && quoted) {
                continue;
            }
            let mode = ["--debug", "-M", protocol, "-D", "given=a b"];
            let options: Vec<&str> = OPTIONS.into_iter().chain(mode).collect();
            let printed = server.pgbench(text, &options);
            let errors = printed.text.lines().filter(|line| line.contains("error:"));
            assert_eq!(errors.collect::<Vec<_>>(), [""; 0], "{text}");
            let theirs: Vec<&str> = printed
                .text
                .split("\npgbench: ")
                .filter_map(|message| {
                    message.trim_start_matches("pgbench: ").strip_prefix("client 0 sending ")
                })
                .collect();
            // Messages lose a new line at their end.
            let ours = sent(text, protocol == "extended");
            let ours: Vec<&str> =
                ours.iter().map(|sql| sql.strip_suffix('\n').unwrap_or(sql)).collect();
            assert_eq!(ours, theirs, "{protocol}: {text}");
        }
    }
}

#[test]
fn it_is_the_same_as_pgbench() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(reason) => return testing::skip(reason),
    };
    listed_values(&server);
    hashes(&server);
    precedence(&server);
    arithmetic(&server);
    errors(&server);
    texts(&server);
    statements(&server);
    distributions::are_the_same(&server);
}
