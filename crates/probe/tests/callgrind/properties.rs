//! Properties of any profile and of any bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use probe::callgrind::{Cost, Event, Profile};
use proptest::prelude::*;

// ---- what is written is read
// ------------------------------------------------------------

/// A profile without recursion: costs by function and calls between them.
#[derive(Debug, Clone)]
struct Made {
    functions: Vec<(String, String, u64)>,
    /// Caller, callee, calls, instructions.
    arcs: BTreeMap<(usize, usize), (u64, u64)>,
}

/// How a file is written.
#[derive(Debug, Clone)]
struct Style {
    numbers_for_names: bool,
    events: Vec<&'static str>,
    positions: &'static str,
    hexadecimal: bool,
    /// The total also in the header.
    summary: bool,
    /// Costs are in this many lines.
    pieces: u64,
}

fn made() -> impl Strategy<Value = Made> {
    let names = prop::collection::btree_set("[a-zA-Z_(][a-zA-Z0-9_:<>., ~]{0,12}[a-z0-9_>]", 1..12);
    names.prop_flat_map(|names| {
        let names: Vec<String> = names.into_iter().collect();
        let count = names.len();
        let costs = prop::collection::vec((0..3_usize, 1..1_u64 << 40), count);
        let arc = ((0..count, 0..count), (0..1000_u64, 0..1_u64 << 40));
        let arcs = prop::collection::vec(arc, 0..20);
        (Just(names), costs, arcs).prop_map(|(names, costs, arcs)| Made {
            functions: names
                .into_iter()
                .zip(costs)
                .map(|(name, (object, own))| {
                    (name, ["/bin/a", "/lib/b.so.6", "???"][object].to_owned(), own)
                })
                .collect(),
            arcs: arcs.into_iter().filter(|((from, to), _)| from != to).collect(),
        })
    })
}

fn style() -> impl Strategy<Value = Style> {
    (
        any::<bool>(),
        prop::sample::select(vec![vec!["Ir"], vec!["Ir", "Dr", "Dw"], vec!["sysCount", "Ir"]]),
        prop::sample::select(vec!["", "line", "instr", "instr line", "instr bb line"]),
        any::<bool>(),
        any::<bool>(),
        1..4_u64,
    )
        .prop_map(|(numbers_for_names, events, positions, hexadecimal, summary, pieces)| {
            Style { numbers_for_names, events, positions, hexadecimal, summary, pieces }
        })
}

struct Writer<'a> {
    style: &'a Style,
    text: String,
    numbered: BTreeMap<(bool, String), usize>,
    lines: usize,
}

impl Writer<'_> {
    /// `of_functions`: names of functions and of objects are numbered separately.
    fn spec(&mut self, spec: &str, of_functions: bool, name: &str) {
        let next = self.numbered.len() + 1;
        let key = (of_functions, name.to_owned());
        let shown = match (self.style.numbers_for_names, self.numbered.get(&key)) {
            (false, _) => name.to_owned(),
            (true, Some(number)) => format!("({number})"),
            (true, None) => {
                self.numbered.insert(key, next);
                format!("({next}) {name}")
            }
        };
        writeln!(self.text, "{spec}={shown}").unwrap();
    }

    fn position(&mut self) {
        for _ in self.style.positions.split_ascii_whitespace() {
            self.lines += 1;
            let position = ["12", "+3", "-7", "*", "0x80001234"][self.lines % 5];
            write!(self.text, "{position} ").unwrap();
        }
    }

    fn cost(&mut self, instructions: u64) {
        self.position();
        for event in &self.style.events {
            let cost = if *event == "Ir" { instructions } else { 77 };
            match self.style.hexadecimal {
                true => write!(self.text, "{cost:#x} ").unwrap(),
                false => write!(self.text, "{cost} ").unwrap(),
            }
        }
        self.text.push('\n');
    }

    /// The parts of a sum, one line each.
    fn split(&self, sum: u64) -> Vec<u64> {
        let pieces = self.style.pieces;
        (0..pieces).map(|i| sum / pieces + if i == 0 { sum % pieces } else { 0 }).collect()
    }
}

fn written(made: &Made, style: &Style) -> String {
    let mut writer = Writer { style, text: String::new(), numbered: BTreeMap::new(), lines: 0 };
    let total: u64 = made.functions.iter().map(|(_, _, own)| own).sum();
    let totals: Vec<_> = style
        .events
        .iter()
        .map(|event| if *event == "Ir" { total.to_string() } else { "1".to_owned() })
        .collect();
    let totals = totals.join(" ");
    writeln!(
        writer.text,
        "# callgrind format\nversion: 1\ncreator: a test\npid: 1\ncmd:  ./x a=b\npart: 1\n\n\
         desc: Trigger: none\nevent: Dr : Data reads\npositions: {}\nevents: {}\n",
        style.positions,
        style.events.join(" "),
    )
    .unwrap();
    if style.summary {
        writeln!(writer.text, "summary: {totals}").unwrap();
    }
    for (from, (name, object, own)) in made.functions.iter().enumerate() {
        writer.spec("ob", false, object);
        writer.text.push_str("fl=(1) some file.c\n");
        writer.spec("fn", true, name);
        for piece in writer.split(*own) {
            writer.cost(piece);
        }
        writer.text.push_str("# calls\n");
        for ((_, to), (calls, inclusive)) in made.arcs.range((from, 0)..(from + 1, 0)) {
            let (callee, callee_object, _) = &made.functions[*to];
            let calls = writer.split(*calls);
            for (calls, inclusive) in calls.into_iter().zip(writer.split(*inclusive)) {
                if callee_object != object {
                    writer.spec("cob", false, callee_object);
                }
                writer.text.push_str("cfi=(1)\n");
                writer.spec("cfn", true, callee);
                write!(writer.text, "calls={calls} ").unwrap();
                writer.position();
                writer.text.push('\n');
                writer.cost(inclusive);
            }
        }
        writer.text.push_str("jump=3 +1\n");
        writer.position();
        writer.text.push_str("\n\n");
    }
    writeln!(writer.text, "totals: {totals}").unwrap();
    writer.text
}

fn expected(made: &Made) -> Profile {
    let name = |index: usize| made.functions[index].0.clone();
    let mut functions: BTreeMap<String, Cost> = made
        .functions
        .iter()
        .map(|(name, object, own)| {
            (name.clone(), Cost { object: object.clone(), own: *own, inclusive: *own, calls: 0 })
        })
        .collect();
    for ((from, to), (calls, inclusive)) in &made.arcs {
        functions.get_mut(&name(*from)).unwrap().inclusive += inclusive;
        functions.get_mut(&name(*to)).unwrap().calls += calls;
    }
    let total = functions.values().map(|cost| cost.own).sum();
    Profile { total, functions }
}

fn parse(bytes: &[u8]) -> Result<Profile, probe::callgrind::CallgrindError> {
    Profile::parse(bytes, "made up".as_ref(), Event::Instructions)
}

// ---- recursion
// ------------------------------------------------------------

/// One activation of a function, with those it called.
#[derive(Debug, Clone)]
struct Activation {
    function: usize,
    own: u64,
    calls: Vec<Activation>,
}

const FUNCTIONS: [&str; 4] = ["f", "g", "h", "k"];

fn activation() -> impl Strategy<Value = Activation> {
    let leaf = (0..FUNCTIONS.len(), 1..50_u64).prop_map(|(function, own)| Activation {
        function,
        own,
        calls: Vec::new(),
    });
    leaf.prop_recursive(7, 60, 4, |inner| {
        (0..FUNCTIONS.len(), 1..50_u64, prop::collection::vec(inner, 0..4))
            .prop_map(|(function, own, calls)| Activation { function, own, calls })
    })
}

impl Activation {
    fn cost(&self) -> u64 {
        self.own + self.calls.iter().map(Activation::cost).sum::<u64>()
    }
}

/// The counts that Callgrind would give, with recursion levels in the names, and the true ones,
/// from the tree itself.
#[derive(Default)]
struct Counted {
    own: BTreeMap<String, u64>,
    arcs: BTreeMap<(String, String), (u64, u64)>,
    truth: BTreeMap<usize, Cost>,
}

impl Counted {
    /// `stack` holds the functions around this activation.
    fn visit(&mut self, activation: &Activation, stack: &mut Vec<usize>, levels: usize) {
        let named = |function: usize, stack: &[usize]| {
            let around = stack.iter().filter(|other| **other == function).count();
            match (around + 1).min(levels) {
                1 => FUNCTIONS[function].to_owned(),
                level => format!("{}'{level}", FUNCTIONS[function]),
            }
        };
        let function = activation.function;
        let name = named(function, stack);
        *self.own.entry(name.clone()).or_default() += activation.own;
        let truth = self.truth.entry(function).or_default();
        truth.own += activation.own;
        if !stack.contains(&function) {
            truth.inclusive += activation.cost();
        }
        for called in &activation.calls {
            stack.push(function);
            let cost = called.cost();
            let arc = self.arcs.entry((name.clone(), named(called.function, stack))).or_default();
            arc.0 += 1;
            arc.1 += cost;
            self.truth.entry(called.function).or_default().calls += 1;
            self.visit(called, stack, levels);
            stack.pop();
        }
    }

    fn written(&self) -> String {
        let mut text = "events: Ir\n".to_owned();
        let names: BTreeSet<&String> = self.own.keys().collect();
        for name in names {
            writeln!(text, "fn={name}\n1 {}", self.own[name]).unwrap();
            for ((_, to), (calls, inclusive)) in
                self.arcs.iter().filter(|((from, _), _)| from == name)
            {
                writeln!(text, "cfn={to}\ncalls={calls} 1\n1 {inclusive}").unwrap();
            }
        }
        writeln!(text, "totals: {}", self.own.values().sum::<u64>()).unwrap();
        text
    }
}

// ---- broken files
// ------------------------------------------------------------

/// Lines as they appear in files, and some that don't.
fn almost() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "events: Ir",
        "events: Dr Ir",
        "positions: line",
        "positions: instr line",
        "positions:",
        "version: 1",
        "version: 2",
        "summary: 10",
        "totals: 10",
        "totals: 0",
        "fn=(1) main",
        "fn=(1)",
        "fn=(2)",
        "fn=f'2",
        "fn=",
        "ob=(1) /bin/x",
        "ob=(1)",
        "cfn=(1)",
        "cfn=(3) g",
        "cob=(2) y",
        "calls=1 5",
        "calls=0 0",
        "calls=x",
        "jump=1 +2",
        "jcnd=1/2 +2",
        "1 5",
        "+1 5",
        "* 5",
        "-2 5",
        "1 5 5",
        "5",
        "0x10 0x5",
        "1 18446744073709551615",
        "1 99999999999999999999",
        "# note",
        "",
        "nonsense",
        "x=y",
        "desc: a: b",
        "fl=(1) a.c",
        "fi=(1)",
        "fe=(1)",
    ]);
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn what_is_written_is_read(made in made(), style in style()) {
        let text = written(&made, &style);
        prop_assert_eq!(parse(text.as_bytes()).unwrap(), expected(&made), "{}", text);
    }

    #[test]
    fn levels_fold_into_what_the_calls_were(root in activation(), levels in 2..5_usize) {
        let mut counted = Counted::default();
        counted.visit(&root, &mut Vec::new(), levels);
        let profile = parse(counted.written().as_bytes()).unwrap();
        prop_assert_eq!(profile.total, root.cost());
        prop_assert_eq!(profile.functions.len(), counted.truth.len());
        for (function, truth) in &counted.truth {
            let found = &profile.functions[FUNCTIONS[*function]];
            prop_assert_eq!(
                (found.own, found.inclusive, found.calls),
                (truth.own, truth.inclusive, truth.calls)
            );
        }
    }

    #[test]
    fn a_difference_has_all_its_instructions_in_functions(one in made(), other in made()) {
        let (one, other) = (expected(&one), expected(&other));
        let rest = one.minus(&other);
        let own: u64 = rest.functions.values().map(|cost| cost.own).sum();
        prop_assert!(own >= rest.total);
        prop_assert_eq!(one.minus(&Profile::default()), one.clone());
        prop_assert_eq!(one.minus(&one), Profile::default());
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(parse(&bytes).is_err());
    }

    #[test]
    fn any_lines_are_refused_or_add_up(text in almost()) {
        for text in [format!("events: Ir\nfn=main\n{text}\n"), text] {
            if let Ok(profile) = parse(text.as_bytes()) {
                let own = profile.functions.values().map(|cost| u128::from(cost.own));
                prop_assert_eq!(own.sum::<u128>(), u128::from(profile.total), "{}", text);
            }
        }
    }

    #[test]
    fn a_file_that_was_cut_off_is_refused(made in made(), style in style(), share in 0.0..1.0_f64) {
        let text = written(&made, &style);
        let cut = (text.len() as f64 * share) as usize;
        match parse(&text.as_bytes()[..cut]) {
            Err(error) => prop_assert!(error.to_string().contains("made up"), "{}", error),
            // Only costs of events other than Ir can be missing after the total.
            Ok(found) => prop_assert_eq!(found, expected(&made)),
        }
    }
}
