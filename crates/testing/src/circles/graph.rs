//! Circles among files.

use std::collections::{BTreeMap, BTreeSet};

/// Two files, and the names through which the first needs the second.
pub type Ties = BTreeMap<(String, String), BTreeSet<String>>;

/// The ties of each circle of files. Circles that share a file are one.
pub fn circles(ties: &Ties) -> Vec<Ties> {
    let files: BTreeSet<&str> = ties.keys().map(|(from, _)| from.as_str()).collect();
    let needed: BTreeMap<&str, BTreeSet<&str>> =
        files.into_iter().map(|file| (file, all_needed(ties, file))).collect();
    let needs = |from: &str, to: &str| needed.get(from).is_some_and(|all| all.contains(to));
    let mut circles: Vec<Ties> = Vec::new();
    for ((from, to), names) in ties.iter().filter(|((from, to), _)| needs(to, from)) {
        let same = |circle: &Ties| {
            circle.keys().all(|(other, _)| needs(other, from) && needs(from, other))
        };
        let tie = ((from.clone(), to.clone()), names.clone());
        match circles.iter().position(same) {
            Some(at) => circles[at].extend([tie]),
            None => circles.push(Ties::from([tie])),
        }
    }
    circles
}

/// The files that a file needs: itself only if it is in a circle.
fn all_needed<'a>(ties: &'a Ties, file: &'a str) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        let direct = ties.keys().filter(|(from, _)| from == file).map(|(_, to)| to.as_str());
        next.extend(direct.filter(|to| all.insert(*to)));
    }
    all
}

/// A line for each tie of a circle.
pub fn describe(circle: &Ties) -> String {
    let lines = circle.iter().map(|((from, to), names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("  {from} uses {to}: {}\n", names.join(", "))
    });
    lines.collect()
}
