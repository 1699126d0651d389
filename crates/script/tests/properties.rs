//! Arbitrary text and random expressions.

use proptest::prelude::*;
use script::{
    Action, EvalError, Numbered, Problem, Protocol, Scalar, Script, ScriptError, Sql, Symbols,
    Value, check, parse,
};

/// Parts of scripts, so that arbitrary text comes close to a script.
const WORDS: [&str; 60] = [
    "\\set",
    "\\if",
    "\\elif",
    "\\else",
    "\\endif",
    "\\gset",
    "\\aset",
    "\\sleep",
    "\\startpipeline",
    "\\endpipeline",
    "\\syncpipeline",
    "x",
    ":x",
    ":scale",
    "1",
    "0",
    "9223372036854775808",
    "9223372036854775807",
    "1.5",
    "1e300",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    ">=",
    "<>",
    "&",
    "|",
    "#",
    "~",
    "<<",
    "AND",
    "or",
    "NOT",
    "IS",
    "NULL",
    "TRUE",
    "ISNULL",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "random",
    "least",
    "permute",
    "hash",
    "'",
    "\"",
    "$$",
    "/*",
    "*/",
    ";",
    "\\",
    "\n",
];

fn survives(text: &str) -> Result<(), TestCaseError> {
    let mut symbols = Symbols::new();
    match parse("any", text, &mut symbols) {
        Ok(script) => {
            for protocol in [Protocol::Simple, Protocol::Extended] {
                let checked = check(std::slice::from_ref(&script), &symbols, protocol);
                let Err(error) = checked else { continue };
                has_a_place(&error, text)?;
                if let Problem::MissingVariable { name, .. } = &error.problem {
                    prop_assert!(text.contains(&format!(":{name}")), "{}", error);
                }
            }
            usable(&script, &symbols, text)
        }
        Err(error) => has_a_place(&error, text),
    }
}

/// The mistake is somewhere in the text.
fn has_a_place(error: &ScriptError, text: &str) -> Result<(), TestCaseError> {
    let lines = text.split('\n').count() as u32;
    prop_assert!((1..=lines).contains(&error.place.line), "{}", error);
    let line = text.split('\n').nth(error.place.line as usize - 1).unwrap();
    prop_assert!(error.place.column as usize <= line.chars().count() + 1, "{}", error);
    Ok(())
}

fn usable(script: &Script, symbols: &Symbols, text: &str) -> Result<(), TestCaseError> {
    let variables = script::initial(symbols, [1, 2, 3, 4], []);
    let mut state = 1u64;
    let mut host = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        state
    };
    // A variable without a value is one that the text mentions.
    let told = |error: Option<EvalError>| -> Result<(), TestCaseError> {
        if let Some(EvalError::Undefined(slot)) = error {
            prop_assert_eq!(&variables[slot.index()], &Value::Unset);
            let name = format!(":{}", symbols.name(slot));
            prop_assert!(name.len() > 1 && text.contains(&name), "{} in {}", name, text);
        }
        Ok(())
    };
    let mut last = 0;
    for (index, command) in script.commands.iter().enumerate() {
        prop_assert!(command.number >= last, "{}", text);
        last = command.number;
        match &command.action {
            Action::Set { expr, .. } => told(expr.evaluate(&variables, &mut host).err())?,
            Action::Branch { otherwise: to, condition } => {
                told(condition.evaluate(&variables, &mut host).err())?;
                prop_assert!(*to > index && *to <= script.commands.len());
            }
            Action::Jump(to) => prop_assert!(*to > index && *to <= script.commands.len()),
            Action::Sleep(sleep) => match sleep.micros(&variables) {
                Ok(micros) => {
                    prop_assert!(micros.is_multiple_of(sleep.unit) || micros == u64::MAX);
                }
                Err(error) => {
                    prop_assert!(matches!(error, EvalError::Undefined(_)), "{}", error);
                    told(Some(error))?;
                }
            },
            Action::Sql(sql) => {
                let mut bytes = Vec::new();
                sql.simple(symbols, &variables, false, &mut bytes);
                prop_assert!(!bytes.is_empty());
                numbers(sql, symbols)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// With parameters, a statement has `$1` where its text has `:name`, and is otherwise the same.
fn numbers(sql: &Sql, symbols: &Symbols) -> Result<(), TestCaseError> {
    let mut bytes = Vec::new();
    sql.simple(symbols, &symbols.values(), false, &mut bytes);
    let named = String::from_utf8(bytes).unwrap();
    match sql.numbered(symbols, |n| format!("${n}")) {
        Ok(Numbered { text, parameters }) => {
            prop_assert!(parameters.len() <= Sql::MOST_PARAMETERS);
            let names: usize = parameters.iter().map(|slot| symbols.name(*slot).len() + 1).sum();
            let signs: usize =
                (1..=parameters.len()).map(|number| format!("${number}").len()).sum();
            prop_assert_eq!(text.len() + names, named.len() + signs, "{} and {}", text, named);
            prop_assert!(!parameters.is_empty() || text == named, "{} and {}", text, named);
        }
        Err(Problem::QuotedVariable { name }) => {
            prop_assert!(named.contains(&format!(":{name}")), "{} in {}", name, named);
        }
        Err(problem) => {
            prop_assert!(matches!(problem, Problem::TooManyVariables { .. }), "{}", problem);
        }
    }
    Ok(())
}

/// Without variables that have a value, the text of all statements is that of the script.
fn nothing_is_lost(text: &str) -> Result<(), TestCaseError> {
    let mut symbols = Symbols::new();
    let Ok(script) = parse("any", text, &mut symbols) else { return Ok(()) };
    let mut bytes = Vec::new();
    for command in &script.commands {
        let Action::Sql(sql) = &command.action else { return Ok(()) };
        sql.simple(&symbols, &symbols.values(), false, &mut bytes);
    }
    let squeezed = |text: &str| text.replace(|c: char| c.is_whitespace(), "");
    prop_assert_eq!(squeezed(&String::from_utf8(bytes).unwrap()), squeezed(text));
    Ok(())
}

/// An expression with its value by Rust's own arithmetic; `None` is an error.
#[derive(Debug, Clone)]
pub struct Known {
    pub text: String,
    pub value: Option<i64>,
}

pub fn known() -> impl Strategy<Value = Known> {
    let leaf = prop_oneof![
        (-20i64..20).prop_map(|value| Known { text: format!("({value})"), value: Some(value) }),
        (0..=i64::MAX).prop_map(|value| Known { text: value.to_string(), value: Some(value) }),
        Just(Known { text: ":scale".to_owned(), value: Some(7) }),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let binary = (inner.clone(), 0..9usize, inner.clone()).prop_map(|(a, operator, b)| {
            let signs = ["+", "-", "*", "/", "%", "&", "|", "#", "<"];
            let text = format!("({} {} {})", a.text, signs[operator], b.text);
            if operator == 8 {
                let text = format!("CASE WHEN {text} THEN 1 ELSE 0 END");
                let value = a.value.zip(b.value).map(|(a, b)| i64::from(a < b));
                return Known { text: format!("({text})"), value };
            }
            let value = a.value.zip(b.value).and_then(|(a, b)| match operator {
                0 => a.checked_add(b),
                1 => a.checked_sub(b),
                2 => a.checked_mul(b),
                3 => a.checked_div(b),
                4 if b == -1 => Some(0),
                4 => a.checked_rem(b),
                5 => Some(a & b),
                6 => Some(a | b),
                _ => Some(a ^ b),
            });
            Known { text, value }
        });
        let extreme = (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, least)| {
            let name = if least { "LEAST" } else { "greatest" };
            let value = a.value.zip(b.value).map(|(a, b)| if least { a.min(b) } else { a.max(b) });
            Known { text: format!("{name}({}, {})", a.text, b.text), value }
        });
        let unary = (inner, any::<bool>()).prop_map(|(a, minus)| {
            let sign = if minus { '-' } else { '~' };
            let value = a.value.and_then(|a| if minus { 0i64.checked_sub(a) } else { Some(!a) });
            Known { text: format!("({sign} {})", a.text), value }
        });
        prop_oneof![binary, extreme, unary]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_parsed_or_refused(text in any::<String>()) {
        survives(&text)?;
    }

    #[test]
    fn arbitrary_words_are_parsed_or_refused(
        words in prop::collection::vec((prop::sample::select(&WORDS[..]), any::<bool>()), 0..40),
    ) {
        let text: String =
            words.into_iter().map(|(word, space)| format!("{word}{}", if space { " " } else { "" })).collect();
        survives(&text)?;
        survives(&format!("\\set y {text}"))?;
    }

    #[test]
    fn statements_keep_their_text(text in "[a-c:;'\"$ \n(),./*]{1,30}") {
        nothing_is_lost(&text)?;
    }

    #[test]
    fn expressions_have_the_value_of_a_naive_reference(known in known()) {
        let mut symbols = Symbols::new();
        let script = parse("known", &format!("\\set x {}", known.text), &mut symbols);
        let script = match script {
            Ok(script) => script,
            Err(error) => {
                prop_assert!(error.to_string().contains("nested"), "{}", error);
                return Ok(());
            }
        };
        let Action::Set { expr, .. } = &script.commands[0].action else { panic!() };
        let variables = script::initial(&symbols, [7, 0, 0, 0], []);
        let value = expr.evaluate(&variables, &mut || 0).ok();
        prop_assert_eq!(value, known.value.map(Scalar::Int), "{}", known.text);
    }
}
