//! Another program that is the load, such as fio or pgbench. It runs once and is watched from
//! outside.

use std::collections::BTreeMap;

use crate::step::Step;

/// A step whose load is a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Its step, without streams.
    pub step: Step,
    /// Commands that must succeed before the step begins; empty: none.
    pub prepare: Vec<String>,
    /// The program and its arguments, with placeholders ([`fill`]).
    pub command: Vec<String>,
    /// Its standard input.
    pub input: String,
    /// How its output is read.
    pub output: Output,
    /// For how many seconds it may run at a time, in turn on several systems; `None`: it runs once.
    pub slice: Option<u32>,
}

impl Program {
    /// A program whose time is the figure.
    pub fn new(step: Step, command: Vec<String>) -> Program {
        let (prepare, input, output) = Default::default();
        Program { step, prepare, command, input, output, slice: None }
    }
}

/// How the output of a program is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// A format of [`foreign::Format`]; `None`: its time in seconds is the figure.
    pub parse: Option<String>,
    /// The test to take if there are several.
    pub test: Option<String>,
}

/// The figures of a program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Operations; 1 if the program doesn't say how many.
    pub operations: u64,
    /// The seconds they took.
    pub seconds: f64,
    /// The judged figure, in the unit of the step: a rate per second, or a cost.
    pub value: f64,
    /// Other printed figures, with their units; response times have `µs`.
    pub metrics: Vec<(String, f64, String)>,
    /// The rate in each second, as far as it is known.
    pub per_second: Vec<f64>,
}

impl Output {
    /// Reads what a program printed in `seconds` of wall-clock time for a step.
    ///
    /// # Errors
    /// A sentence: what was expected and found.
    pub fn read(
        &self,
        step: &Step,
        stdout: &str,
        stderr: &str,
        seconds: f64,
    ) -> Result<Figures, String> {
        let Some(parse) = &self.parse else {
            return Ok(Figures { operations: 1, seconds, value: seconds, ..Figures::default() });
        };
        let format: foreign::Format =
            parse.parse().map_err(|e: foreign::ForeignError| e.to_string())?;
        let reading = format.read(stdout).map_err(|error| error.to_string())?;
        let test = self.choose(&step.key.name, &reading.tests)?;
        if test.less_is_better != step.less_is_better && format.knows_direction() {
            let better = |less| if less { "lower" } else { "higher" };
            return Err(format!(
                "expected a figure of which {} is better, found {} {}; correct `less_is_better`",
                better(step.less_is_better),
                test.value,
                test.unit
            ));
        }
        let seconds = test.seconds.unwrap_or(seconds);
        let counted =
            if step.less_is_better { 1.0 } else { (test.value * seconds).round().max(1.0) };
        // Some programs print their progress to standard error.
        let progress = || format.read(&format!("{stderr}\n{stdout}")).ok();
        let told = |reading: foreign::Reading| {
            Some(self.choose(&step.key.name, &reading.tests).ok()?.series.clone())
        };
        let series = match test.series.is_empty() {
            true => progress().and_then(told).unwrap_or_default(),
            false => test.series.clone(),
        };
        let metrics =
            test.metrics.iter().map(|it| (it.name.clone(), it.value, it.unit.to_string()));
        Ok(Figures {
            operations: test.operations.unwrap_or(counted as u64),
            seconds,
            value: test.value,
            metrics: metrics.collect(),
            per_second: per_second(&series),
        })
    }

    /// The one to take: the only one, or the one with the name.
    fn choose<'t>(
        &self,
        step: &str,
        tests: &'t [foreign::Test],
    ) -> Result<&'t foreign::Test, String> {
        let wanted = self.test.as_deref().unwrap_or(step);
        let named = |test: &&foreign::Test| test.name.as_deref() == Some(wanted);
        match (tests, self.test.is_some()) {
            ([only], false) => Ok(only),
            _ => {
                let mut found = tests.iter().filter(named);
                let names: Vec<&str> =
                    tests.iter().filter_map(|test| test.name.as_deref()).collect();
                match (found.next(), found.next()) {
                    (Some(test), None) => Ok(test),
                    (Some(_), Some(_)) => Err(format!("its output has `{wanted}` several times")),
                    _ => Err(format!(
                        "expected the test `{wanted}` in its output, found {}; name one of them as \
                         `test`",
                        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
                    )),
                }
            }
        }
    }
}

/// The rates of whole seconds, each from the interval that covers most of it; NaN in gaps.
fn per_second(series: &[foreign::Interval]) -> Vec<f64> {
    let mut rates = Vec::new();
    for interval in series {
        let first = interval.from.max(0.0).round() as usize;
        let last = (interval.from + interval.seconds).max(0.0).round() as usize;
        // A day of seconds; more is a misread clock.
        for second in first..last.min(86_400) {
            if rates.len() <= second {
                rates.resize(second + 1, f64::NAN);
            }
            rates[second] = interval.value;
        }
    }
    rates
}

/// Replaces placeholders: `{port}` by the value of that name in `places`, `{{` and `}}` by a brace.
/// A brace that is neither is kept.
///
/// # Errors
/// A sentence, if a name between braces stands for nothing.
pub fn fill(text: &str, places: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        filled.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        let doubled = after.strip_prefix(brace);
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let name = after.split_once('}').map(|(name, _)| name);
        let name = name.filter(|name| {
            brace == "{"
                && name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(word)
        });
        rest = match (doubled, name) {
            (Some(after), _) => {
                filled.push_str(brace);
                after
            }
            (None, Some(name)) => {
                let value = places.get(name).ok_or_else(|| unknown(name, places))?;
                filled.push_str(value);
                &after[name.len() + 1..]
            }
            (None, None) => {
                filled.push_str(brace);
                after
            }
        };
    }
    filled.push_str(rest);
    Ok(filled)
}

fn unknown(name: &str, places: &BTreeMap<String, String>) -> String {
    let names = || places.keys().map(String::as_str);
    let near = plan::nearest(name, names());
    let near = near.map_or_else(String::new, |near| format!("did you mean `{{{near}}}`? "));
    let known: Vec<&str> = names().collect();
    format!(
        "`{{{name}}}` stands for nothing here; {near}known: {}. For the text itself, write \
         `{{{{{name}}}}}`",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> BTreeMap<String, String> {
        [("port", "5432"), ("host", "/s")].map(|(a, b)| (a.to_owned(), b.to_owned())).into()
    }

    #[test]
    fn placeholders_are_filled_in() {
        for (text, filled) in [
            ("-p {port} -h {host}", "-p 5432 -h /s"),
            ("{port}{port}", "54325432"),
            ("{{port}} {", "{port} {"),
            ("{\"a\": 1} ${HOME} {print $1}", "{\"a\": 1} ${HOME} {print $1}"),
            ("é{port}é}", "é5432é}"),
        ] {
            assert_eq!(fill(text, &places()).unwrap(), filled);
        }
        let error = fill("{prt}", &places()).unwrap_err();
        assert!(error.contains("did you mean `{port}`? known: host, port"), "{error}");
        assert!(error.contains("write `{{prt}}`"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn doubled_braces_are_the_text_itself(text in "[{}a-zé$ ]{0,20}") {
            let doubled = text.replace('{', "{{").replace('}', "}}");
            proptest::prop_assert_eq!(fill(&doubled, &places()), Ok(text.clone()));
            // A filled text has only lost braces, or gained the values of names.
            if let Err(problem) = fill(&text, &places()) {
                proptest::prop_assert!(problem.contains("stands for nothing"), "{}", problem);
            }
        }
    }
}
