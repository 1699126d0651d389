//! Merges Callgrind's recursion levels into one entry per function.
//!
//! Callgrind names a function by its depth on the stack: `f` is the outermost activation, `f'2` any
//! one within it (with `--separate-recs=2`, deeper ones are not distinguished). While one `f` is
//! active there is no second `f`, only `f'2`. Therefore:
//!
//! - The activations called `f` do not overlap in time. Their own cost plus the cost of their
//!   calls, including those to `f'2`, counts everything once: that is the **inclusive** cost of the
//!   function. The activations called `f'2` are all inside and add nothing to it.
//! - **Own** costs are those of instructions outside all calls, which no two activations share.
//!   They are added up, and so are **calls**.

use std::collections::{BTreeMap, HashMap};

use super::cost::Cost;
use super::raw::{Key, Raw};

/// Collects what belongs to one name.
#[derive(Default)]
struct Gathered {
    cost: Cost,
    by_object: BTreeMap<String, u64>,
}

/// A function's displayed name, and whether it is the outermost activation.
struct Activation {
    name: String,
    outermost: bool,
}

/// The cost of each function.
pub(super) fn fold(raw: &Raw) -> BTreeMap<String, Cost> {
    let mut activations: HashMap<Key, Activation> = HashMap::new();
    let mut functions: BTreeMap<String, Gathered> = BTreeMap::new();
    let ends = raw.arcs.keys().flat_map(|(from, to)| [*from, *to]);
    for key in raw.own.keys().copied().chain(ends) {
        let activation = activations.entry(key).or_insert_with(|| activation(raw, key));
        // If a function's own cost is 0 in this stretch, its object is known from its calls.
        functions
            .entry(activation.name.clone())
            .or_default()
            .by_object
            .entry(raw.objects.text(key.1).to_owned())
            .or_default();
    }
    for (key, own) in &raw.own {
        let activation = &activations[key];
        if let Some(function) = functions.get_mut(&activation.name) {
            function.cost.own += own;
            if activation.outermost {
                function.cost.inclusive += own;
            }
            *function.by_object.entry(raw.objects.text(key.1).to_owned()).or_default() += own;
        }
    }
    for ((from, to), arc) in &raw.arcs {
        let (caller, callee) = (&activations[from], &activations[to]);
        if let Some(function) = functions.get_mut(&callee.name) {
            function.cost.calls = function.cost.calls.saturating_add(arc.calls);
        }
        // A call among different functions of one name: the callee's cost is in the entry by
        // itself.
        if caller.outermost
            && !(caller.name == callee.name && callee.outermost)
            && let Some(function) = functions.get_mut(&caller.name)
        {
            function.cost.inclusive = function.cost.inclusive.saturating_add(arc.inclusive);
        }
    }
    functions
        .into_iter()
        .map(|(name, Gathered { mut cost, by_object })| {
            // Among equals, the first in order of names, so the choice is always the same.
            let most = by_object.values().copied().max().unwrap_or(0);
            if let Some((object, _)) = by_object.into_iter().find(|(_, own)| *own == most) {
                cost.object = object;
            }
            (name, cost)
        })
        .collect()
}

fn activation(raw: &Raw, (name, object): Key) -> Activation {
    let text = raw.names.text(name);
    let (base, outermost) = match text.rsplit_once('\'') {
        Some((base, level)) if !base.is_empty() && is_level(level) => (base, false),
        _ => (text, true),
    };
    Activation { name: shown(base, raw.objects.text(object)), outermost }
}

fn is_level(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse().is_ok_and(|level: u64| level >= 2)
}

/// Callgrind names a function without a symbol by the offset of its first instruction in the file,
/// `0x00000000000012ab` or `0x00000000000012ab [PLT]`. Any library may have that, so the file's
/// name is added.
fn shown(name: &str, object: &str) -> String {
    let (address, section) = match name.split_once(' ') {
        Some((address, section)) => (address, format!(" {section}")),
        None => (name, String::new()),
    };
    match address.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16)) {
        Some(Ok(offset)) => {
            let file = object.rsplit('/').next().unwrap_or(object);
            format!("{offset:#x}{section} in {file}")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::callgrind::{Event, Profile};

    fn parsed(body: &str) -> Profile {
        let text = format!("positions: line\nevents: Ir\n{body}\n");
        Profile::parse(text.as_bytes(), "made up".as_ref(), Event::Instructions).unwrap()
    }

    #[test]
    fn a_function_that_calls_itself_is_charged_once() {
        // f(3): each activation 10 of its own and a leaf of 5; levels beyond the second are
        // together.
        let folded = parsed(
            "ob=/bin/x\nfn=main\n1 1\ncfn=f\ncalls=1 1\n1 60\nfn=f\n1 10\ncfn=leaf\ncalls=1 1\n1 5\n\
             cfn=f'2\ncalls=1 1\n1 45\nfn=f'2\n1 30\ncfn=leaf\ncalls=3 1\n1 15\ncfn=f'2\ncalls=2 1\n1 45\n\
             fn=leaf\n1 20\ntotals: 61",
        );
        let f = &folded.functions["f"];
        assert_eq!((f.own, f.inclusive, f.calls), (40, 60, 4));
        assert_eq!(folded.functions["leaf"].calls, 4);
        assert_eq!(folded.functions["main"].inclusive, 61);
        assert!(!folded.functions.contains_key("f'2"));
    }

    #[test]
    fn addresses_are_named_with_their_file() {
        let folded = parsed(
            "ob=/opt/13/bin/postgres\nfn=0x00000000000012ab\n1 3\ncob=/lib/libc.so.6\ncfn=0x0000000000000040 [PLT]'2\n\
             calls=1 0\n1 4\nob=/lib/libc.so.6\nfn=0x0000000000000040 [PLT]\n0 4\ntotals: 7",
        );
        let names: Vec<_> = folded.functions.keys().collect();
        assert_eq!(names, ["0x12ab in postgres", "0x40 [PLT] in libc.so.6"]);
    }

    #[test]
    fn names_that_only_look_like_levels_stay() {
        let folded =
            parsed("fn=a'1\n1 1\nfn='2\n1 1\nfn=b'x\n1 1\nfn=0xyz\n1 1\nfn=0x 1\n1 1\ntotals: 5");
        let names: Vec<_> = folded.functions.keys().map(String::as_str).collect();
        assert_eq!(names, ["'2", "0x 1", "0xyz", "a'1", "b'x"]);
    }

    #[test]
    fn functions_of_one_name_are_one_and_the_costlier_names_the_object() {
        let folded = parsed(
            "ob=/lib/a.so\nfn=init\n1 5\ncob=/lib/b.so\ncfn=init\ncalls=1 0\n1 9\nob=/lib/b.so\nfn=init\n1 9\ntotals: 14",
        );
        let init = &folded.functions["init"];
        assert_eq!((init.own, init.inclusive, init.calls), (14, 14, 1));
        assert_eq!(init.object, "/lib/b.so");
    }
}
