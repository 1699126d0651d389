//! The same function under different names in several builds.

use std::collections::{BTreeMap, BTreeSet};

use store::CountRecord;

/// Gives functions one name in all of these records, where no build has two of them: those that the
/// compiler split or specialized in some builds (`f` here, `f.isra.0` there), and those of C++ that
/// got other parameters. If each build calls a different overload, these count as the same, too.
pub(super) fn align<'a>(records: impl IntoIterator<Item = &'a mut CountRecord>) {
    let mut records: Vec<&mut CountRecord> = records.into_iter().collect();
    for root_of in [stem, unparenthesized] {
        let renamed = renamed(&records, root_of);
        for function in records.iter_mut().flat_map(|record| &mut record.functions) {
            if let Some(root) = renamed.get(&function.name) {
                function.name.clone_from(root);
            }
        }
    }
}

/// The roots of names that stand for one function: no build has two with this root, apart from
/// names that all builds have.
fn renamed(records: &[&mut CountRecord], root_of: fn(&str) -> &str) -> BTreeMap<String, String> {
    let names: Vec<BTreeSet<&str>> = records
        .iter()
        .map(|record| record.functions.iter().map(|function| function.name.as_str()).collect())
        .collect();
    let everywhere = |name: &str| names.iter().all(|names| names.contains(name));
    let mut roots: BTreeMap<&str, (BTreeSet<&str>, bool)> = BTreeMap::new();
    for names in &names {
        let mut seen = BTreeSet::new();
        for name in names.iter().filter(|name| !everywhere(name)) {
            let (all, clear) = roots.entry(root_of(name)).or_insert((BTreeSet::new(), true));
            all.insert(name);
            *clear &= seen.insert(root_of(name));
        }
    }
    roots
        .into_iter()
        .filter(|(root, (names, clear))| *clear && names.len() > 1 && !everywhere(root))
        .flat_map(|(root, (names, _))| {
            names.into_iter().map(|name| (name.to_owned(), root.to_owned()))
        })
        .collect()
}

/// A name without the suffixes that GCC and LLVM append to clones of a function (`.isra.0`,
/// `.constprop.1`, `.part.0`, `.cold`).
fn stem(name: &str) -> &str {
    let name = name.split(" [clone").next().unwrap_or(name);
    const CLONES: [&str; 6] = [".isra", ".constprop", ".part", ".cold", ".lto_priv", ".llvm"];
    let cut = CLONES
        .iter()
        .filter_map(|clone| {
            let at = name.find(clone)?;
            let rest = name.get(at + clone.len()..)?;
            (at > 0 && (rest.is_empty() || rest.starts_with('.'))).then_some(at)
        })
        .min();
    cut.and_then(|at| name.get(..at)).unwrap_or(name)
}

/// A C++ name without its parameters and the text after them.
fn unparenthesized(name: &str) -> &str {
    let declared = name.split(" [clone").next().unwrap_or(name);
    let Some(end) = declared.rfind(')') else { return declared };
    let mut depth = 0;
    for (at, c) in declared[..=end].char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &declared[..at];
        }
    }
    declared
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::CountFunction;

    fn aligned<const N: usize>(names: [&[&str]; N]) -> [Vec<String>; N] {
        let record = |names: &[&str]| CountRecord {
            kind: "point".to_owned(),
            protocol: "simple".to_owned(),
            place: "backend".to_owned(),
            event: store::INSTRUCTIONS.to_owned(),
            statements: 1,
            rows: 0,
            total: 1,
            counts: Vec::new(),
            phases: Vec::new(),
            functions: names
                .iter()
                .map(|name| CountFunction {
                    name: (*name).to_owned(),
                    object: "postgres".to_owned(),
                    own: 1,
                    inclusive: 1,
                    calls: 1,
                })
                .collect(),
        };
        let mut records = names.map(record);
        align(&mut records);
        records.map(|record| record.functions.into_iter().map(|it| it.name).collect())
    }

    #[test]
    fn clones_of_the_compiler_are_matched_where_it_is_clear() {
        let [base, variant] = aligned([
            &["f", "g", "h.part.0", "k"],
            &["f.isra.0", "g", "g.cold", "h.constprop.1.isra.0", "k.a"],
        ]);
        assert_eq!(base, ["f", "g", "h", "k"]);
        assert_eq!(variant, ["f", "g", "g.cold", "h", "k.a"]);
        // Two clones of one function on one side: it is unclear which one matches.
        let [base, variant] = aligned([&["f"], &["f.isra.0", "f.part.0"]]);
        assert_eq!((base[0].as_str(), variant[0].as_str()), ("f", "f.isra.0"));
        // Not one more of what all have.
        let [first, second] = aligned([&["g", "g.cold"], &["g", "g.part.0"]]);
        assert_eq!((first[1].as_str(), second[1].as_str()), ("g.cold", "g.part.0"));
    }

    #[test]
    fn functions_with_other_parameters_are_the_same() {
        let [first, second, third] = aligned([
            &["f(int)", "g(int)", "g(char)", "h(int)"],
            &["f(long)", "g(int)", "g(long)", "h(int)"],
            &["f(bool)", "g(int)"],
        ]);
        assert_eq!(first, ["f", "g(int)", "g", "h(int)"]);
        assert_eq!(second, ["f", "g(int)", "g", "h(int)"]);
        assert_eq!(third, ["f", "g(int)"]);
    }

    #[test]
    fn roots() {
        for (name, root) in [
            ("ExecScan", "ExecScan"),
            ("ExecScan.isra.0", "ExecScan"),
            ("f.part.0.cold", "f"),
            ("f.partial", "f.partial"),
            (".cold", ".cold"),
            ("f(int) [clone .isra.0]", "f(int)"),
        ] {
            assert_eq!(stem(name), root);
        }
        for (name, root) in [
            ("rocksdb::DBImpl::Get(rocksdb::Slice const&, void (*)(int))", "rocksdb::DBImpl::Get"),
            ("a::(anonymous namespace)::B::f(int) const", "a::(anonymous namespace)::B::f"),
            (
                "std::function<void (int)>::operator()(int) const",
                "std::function<void (int)>::operator()",
            ),
            ("f(int) [clone .isra.0]", "f"),
            ("memcpy", "memcpy"),
            ("odd)", "odd)"),
        ] {
            assert_eq!(unparenthesized(name), root);
        }
    }
}
