use super::*;
use crate::data::copy::copy_tree;
use crate::data::hash::PIECE;
use crate::data::paths::set_mode;
use proptest::prelude::*;
use std::os::unix::fs::FileExt;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn made(root: &Path, files: &[(String, Vec<u8>)]) {
    fs::create_dir_all(root).unwrap();
    for (name, bytes) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn of(root: &Path) -> Manifest {
    Manifest::of(root, &GO_ON).unwrap()
}

fn some_files() -> Vec<(String, Vec<u8>)> {
    vec![
        ("base/1/100".to_owned(), vec![3; 3 * PIECE + 17]),
        ("base/1/101".to_owned(), Vec::new()),
        ("PG_VERSION".to_owned(), b"14\n".to_vec()),
    ]
}

#[test]
fn a_copy_is_the_same_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    made(&from, &some_files());
    std::os::unix::fs::symlink("1", from.join("base/link")).unwrap();
    let manifest = of(&from);
    copy_tree(&from, &to, None, &GO_ON).unwrap();
    manifest.check(&to, &GO_ON).unwrap();
    assert_eq!(manifest, of(&to));
    assert_eq!(manifest.digest(), of(&to).digest());
    assert_eq!(manifest.files(), 3);
    assert_eq!(manifest.bytes(), 3 * PIECE as u64 + 17 + 3);
    assert_eq!(manifest.digest().len(), 16);
}

#[test]
fn whatever_is_tampered_with_is_found_and_named() {
    let directory = tempfile::tempdir().unwrap();
    type Tamper = fn(&Path);
    let cases: [(&str, Tamper); 7] = [
        ("base/1/100 has other bytes", |root| {
            let file = fs::OpenOptions::new().write(true).open(root.join("base/1/100")).unwrap();
            file.write_all_at(&[4], 2 * PIECE as u64 + 5).unwrap();
        }),
        ("base/1/100 has another size", |root| {
            let file = fs::OpenOptions::new().write(true).open(root.join("base/1/100")).unwrap();
            file.set_len(10).unwrap();
        }),
        ("base/1/101 is missing", |root| fs::remove_file(root.join("base/1/101")).unwrap()),
        ("base/new is new", |root| fs::write(root.join("base/new"), "").unwrap()),
        ("PG_VERSION has another mode", |root| set_mode(&root.join("PG_VERSION"), 0o666).unwrap()),
        ("base/link points elsewhere", |root| {
            fs::remove_file(root.join("base/link")).unwrap();
            std::os::unix::fs::symlink("2", root.join("base/link")).unwrap();
        }),
        ("PG_VERSION is of another kind", |root| {
            fs::remove_file(root.join("PG_VERSION")).unwrap();
            fs::create_dir(root.join("PG_VERSION")).unwrap();
        }),
    ];
    for (number, (expected, tamper)) in cases.into_iter().enumerate() {
        let root = directory.path().join(number.to_string());
        made(&root, &some_files());
        std::os::unix::fs::symlink("1", root.join("base/link")).unwrap();
        let manifest = of(&root);
        tamper(&root);
        let error = manifest.check(&root, &GO_ON).unwrap_err().to_string();
        assert!(error.contains(expected), "`{expected}` is not in: {error}");
        assert_ne!(manifest.digest(), of(&root).digest(), "{expected}");
    }
}

#[test]
fn many_differences_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..20).map(|n| (format!("f{n:02}"), vec![n])).collect();
    made(directory.path(), &files);
    let manifest = of(directory.path());
    for (name, _) in &files {
        fs::remove_file(directory.path().join(name)).unwrap();
    }
    let error = manifest.check(directory.path(), &GO_ON).unwrap_err().to_string();
    assert!(error.contains("f00 is missing") && error.contains("and 15 more"), "{error}");
}

#[test]
fn an_interrupt_ends_the_reading() {
    let directory = tempfile::tempdir().unwrap();
    made(directory.path(), &some_files());
    let result = Manifest::of(directory.path(), &AtomicBool::new(true));
    assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
}

/// Names in directories that are not names of files.
fn trees() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let name = "(d[0-3]/){0,2}f[0-9]";
    proptest::collection::btree_map(name, proptest::collection::vec(any::<u8>(), 0..40), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Manifests are equal exactly if the trees are. Their differences are the trees' differences,
    /// each once.
    #[test]
    fn manifests_differ_as_the_trees_do(one in trees(), two in trees()) {
        let directory = tempfile::tempdir().unwrap();
        let (a, b) = (directory.path().join("a"), directory.path().join("b"));
        let list = |tree: &BTreeMap<String, Vec<u8>>| -> Vec<_> { tree.clone().into_iter().collect() };
        made(&a, &list(&one));
        made(&b, &list(&two));
        let (first, second) = (of(&a), of(&b));
        prop_assert_eq!(first == second, one == two);
        prop_assert_eq!(first.digest() == second.digest(), one == two);
        let found = first.differences(&second);
        prop_assert_eq!(found.is_empty(), one == two);
        for (name, bytes) in &one {
            let differs = two.get(name) != Some(bytes);
            prop_assert_eq!(found.contains_key(&PathBuf::from(name)), differs, "{}", name);
        }
        prop_assert_eq!(second.differences(&first).len(), found.len());
    }

    /// One changed byte anywhere is found.
    #[test]
    fn any_byte_counts(bytes in proptest::collection::vec(any::<u8>(), 1..5000), at in any::<prop::sample::Index>(), flip in 1..=255u8) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, &bytes).unwrap();
        let manifest = of(directory.path());
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] ^= flip;
        fs::write(&file, &changed).unwrap();
        prop_assert!(manifest.check(directory.path(), &GO_ON).is_err());
        fs::write(&file, &bytes).unwrap();
        manifest.check(directory.path(), &GO_ON).unwrap();
    }
}
