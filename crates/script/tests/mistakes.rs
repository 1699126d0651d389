//! Every mistake, with its exact place.

use script::{Protocol, Symbols, check, parse};

/// The message about a script, whichever of [`parse`] and [`check`] has one.
fn message(text: &str, protocol: Protocol) -> String {
    let mut symbols = Symbols::new();
    symbols.define("given");
    let checked =
        parse("f", text, &mut symbols).and_then(|script| check(&[script], &symbols, protocol));
    checked.map_or_else(|error| error.to_string(), |()| "no mistake".to_owned())
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn mistakes_have_a_place() {
    let many = format!("SELECT {}:scale;", ":scale,".repeat(255));
    let deep = format!("\\set x {}1{}", "(".repeat(200), ")".repeat(200));
    let nested = format!("\\set x {}:scale{}", "abs(".repeat(40), ")".repeat(40));
    let wide = format!("\\set x least({}1)", "1,".repeat(16));
    for (text, expected) in [
        // Commands.
        ("", "f:1:1: expected at least one command"),
        ("-- nothing\n", "f:1:1: expected at least one command"),
        (
            "SELECT 1;\n  \\sett x 1",
            "f:2:3: expected a pgbench command, found \\sett (did you mean \\set?)",
        ),
        ("\\frobnicate", "f:1:1: expected a pgbench command, found \\frobnicate"),
        ("\\\\set x 1", "f:1:1: expected a pgbench command, found \\\\set"),
        ("\\shell ls", "f:1:1: \\shell is not supported: a shell command would be part"),
        ("\\setshell x ls", "f:1:1: \\setshell is not supported"),
        ("\\set", "f:1:1: \\set needs the name of a variable and an expression, found the end"),
        ("\\set 1x 1", "f:1:6: expected the name of a variable"),
        ("\\set x-y 1", "f:1:6: expected the name of a variable"),
        ("\\sleep", "f:1:1: \\sleep needs a whole number or a :variable"),
        (
            "\\sleep x",
            "f:1:8: expected a whole number or a :variable as time to sleep, found \"x\"",
        ),
        ("\\sleep 1.5", "f:1:9: expected us, ms or s as unit of time, found \".5\""),
        ("\\sleep 1 min", "f:1:10: expected us, ms or s as unit of time, found \"min\""),
        ("\\sleep 1ms s", "f:1:8: expected a whole number"),
        ("\\sleep 1 ms s", "f:1:13: expected the end of the line after \\sleep, found \"s\""),
        ("\\sleep :", "f:1:8: expected a whole number"),
        ("\\if 1\n\\else x\n\\endif", "f:2:7: expected the end of the line after \\else"),
        // Expressions.
        (
            "\\set x",
            "f:1:7: expected a number, a :variable, a function or another expression, found the end",
        ),
        ("\\set x 1 +\n", "f:1:11: expected a number"),
        ("\\set x 1 2", "f:1:10: expected an operator or the end of the line, found 2"),
        ("\\set x \\\n  (1 + 2\n", "f:2:9: expected an operator or ), found the end of the line"),
        ("\\set x 1 ! 2", "f:1:10: unexpected character '!'"),
        ("\\set x 'ä' + ö()", "f:1:8: unexpected character '\\''"),
        ("\\set x -~ö()", "f:1:10: expected a function of pgbench, found ö()"),
        ("\\set x 'ö'", "f:1:8: unexpected character '\\''"),
        ("\\set x : y", "f:1:8: unexpected character ':'"),
        (
            "\\set x 1 < 2 < 3",
            "f:1:14: expected parentheses around one of two comparisons, found <",
        ),
        ("\\set x and", "f:1:8: expected an expression, found AND"),
        ("\\set x 9223372036854775808", "f:1:8: expected a number, a :variable"),
        ("\\set x 99999999999999999999", "f:1:8: expected a whole number of at most 64 bits"),
        ("\\set x 1e999", "f:1:8: expected a number that a double can hold, found 1e999"),
        (
            "\\set x randm(1, 2)",
            "f:1:8: expected a function of pgbench, found randm() (did you mean random?)",
        ),
        ("\\set x frobnicate(1)", "f:1:8: expected a function of pgbench, found frobnicate()"),
        ("\\set x ceil(1)", "f:1:8: expected a function of pgbench, found ceil()"),
        ("\\set x 1 + abs(1, 2)", "f:1:12: abs() takes 1 argument, found 2"),
        ("\\set x pi(1)", "f:1:8: pi() takes no arguments, found 1"),
        ("\\set x random(1)", "f:1:8: random() takes 2 arguments, found 1"),
        ("\\set x hash()", "f:1:8: hash() takes 1 or 2 arguments, found 0"),
        ("\\set x permute(1)", "f:1:8: permute() takes 2 or 3 arguments, found 1"),
        ("\\set x least()", "f:1:8: least() takes 1 to 16 arguments, found 0"),
        (&wide, "f:1:8: least() takes 1 to 16 arguments, found 17"),
        ("\\set x abs 1", "f:1:12: expected ( after the name of a function, found 1"),
        ("\\set x abs(1", "f:1:13: expected an operator, a comma or ), found the end of the line"),
        ("\\set x 1 IS 2", "f:1:13: expected [NOT] NULL, TRUE or FALSE after IS, found 2"),
        ("\\set x CASE 1 END", "f:1:13: expected WHEN after CASE, found 1"),
        ("\\set x CASE WHEN 1 END", "f:1:20: expected an operator or THEN, found END"),
        ("\\set x CASE WHEN 1 THEN 2", "f:1:26: expected an operator, WHEN, ELSE or END"),
        ("\\set x CASE WHEN 1 THEN 2 ELSE 3", "f:1:33: expected an operator or END"),
        (&deep, "f:1:108: expressions may be nested 100 deep"),
        (&nested, "expressions may be nested 32 deep"),
        // Nesting.
        ("\\if 1\nSELECT 1;\n \\if 2\n", "f:3:2: this \\if has no \\endif"),
        ("SELECT 1;\n\\elif 1", "f:2:1: \\elif without \\if"),
        ("\\else", "f:1:1: \\else without \\if"),
        ("SELECT 1;\n\\endif", "f:2:1: \\endif without \\if"),
        ("\\if 1\n\\else\n\\else\n\\endif", "f:3:1: a second \\else"),
        ("\\if 1\n\\else\n\\elif 1\n\\endif", "f:3:1: \\elif after \\else"),
        // Results.
        (
            "\\gset",
            "f:1:1: \\gset takes the results of the SQL command right before it, found none",
        ),
        ("SELECT 1;\n\\set x 1\n\\aset", "f:3:1: \\aset takes the results"),
        (
            "SELECT 1;\n\\gset a\n\\gset b",
            "f:3:1: \\gset takes the results of the SQL command right before it, found another \\gset or \\aset",
        ),
        ("\\if 1\nSELECT 1;\n\\endif\n\\gset", "f:4:1: \\gset takes the results"),
        ("SELECT 1 \\gset 1a", "f:1:16: expected the name of a variable"),
        ("SELECT 1 \\gset a b", "f:1:18: expected the end of the line after \\gset, found \"b\""),
        // SQL.
        ("SELECT 'a;\n", "f:1:8: a quoted text starts here and does not end"),
        ("SELECT \"a", "f:1:8: a quoted name starts here"),
        ("SELECT 1;\nSELECT $a$ $b$", "f:2:8: a dollar-quoted text starts here"),
        ("SELECT 1 /* /* */", "f:1:10: a comment starts here"),
        ("SELECT (1;\nSELECT 2;", "f:1:8: this parenthesis is not closed"),
        ("SELECT (1 \\gset", "f:1:8: this parenthesis is not closed"),
        // Variables.
        ("SELECT :given, :scale, :client_id, :random_seed, :default_seed;", "no mistake"),
        ("SELECT ':x' /* :y */ -- :z", "no mistake"),
        ("SELECT 1,\n  :givn;", "f:2:3: nothing sets the variable :givn (did you mean :given?)"),
        ("\\set x 1 + :y", "f:1:12: nothing sets the variable :y"),
        ("\\set x :1", "f:1:8: nothing sets the variable :1"),
        ("\\if :nowhere\n\\endif", "f:1:5: nothing sets the variable :nowhere"),
        ("\\sleep :nowhere ms", "f:1:8: nothing sets the variable :nowhere"),
        (
            "SELECT 1 AS a \\gset p_\nSELECT :p_a, :p_b, :q_a;",
            "f:2:20: nothing sets the variable :q_a",
        ),
        ("SELECT 1 AS a \\aset\nSELECT :whatever;", "no mistake"),
    ] {
        let found = message(text, Protocol::Simple);
        assert!(found.contains(expected), "{text:?}\nexpected {expected}\nfound    {found}");
    }
    for (text, expected) in [
        ("SELECT ':given';", "f:1:1: the variable :given is inside quotes"),
        (&*many, "f:1:1: a statement may have 255 variables, found 256"),
        ("\\startpipeline\nSELECT 1;\n\\endpipeline", "no mistake"),
        ("\\startpipeline\n\\startpipeline\n", "f:2:1: \\startpipeline inside a pipeline"),
        ("SELECT 1;\n\\endpipeline", "f:2:1: \\endpipeline without \\startpipeline"),
        ("\\syncpipeline", "f:1:1: \\syncpipeline outside of a pipeline"),
        (
            "SELECT 1;\n\\startpipeline\nSELECT 1;",
            "f:2:1: this \\startpipeline has no \\endpipeline",
        ),
        (
            "\\startpipeline\nSELECT 1\n\\gset\n\\endpipeline",
            "f:2:1: \\gset and \\aset are not allowed in a pipeline",
        ),
        (
            "\\if :scale\n\\startpipeline\n\\endif\nSELECT 1;\n\\if :scale\n\\endpipeline\n\\endif",
            "no mistake",
        ),
        (
            "\\if 1\n\\startpipeline\n\\else\n\\startpipeline\n\\endif\n\\startpipeline",
            "f:6:1: \\startpipeline inside",
        ),
    ] {
        let found = message(text, Protocol::Extended);
        assert!(found.contains(expected), "{text:?}\nexpected {expected}\nfound    {found}");
    }
    let simple = message("\\startpipeline\n\\endpipeline", Protocol::Simple);
    assert_eq!(simple, "f:1:1: the simple protocol has no pipelines; choose extended or prepared");
}
