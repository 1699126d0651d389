#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::path::{Path, PathBuf};

use super::graph::{Ties, circles, describe};
use super::names::crate_ties;
use super::page::page_ties;

#[test]
fn no_files_of_the_workspace_import_each_other_in_a_loop() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut found = circles(&page_ties(&workspace.join("web/src"), &workspace));
    for member in fs::read_dir(workspace.join("crates")).unwrap() {
        let source = member.unwrap().path().join("src");
        let roots = ["lib.rs", "main.rs"].map(|root| source.join(root));
        for root in roots.iter().filter(|root| root.exists()) {
            found.extend(circles(&crate_ties(root, &workspace)));
        }
    }
    let found: Vec<String> = found.iter().map(describe).collect();
    assert!(
        found.is_empty(),
        "these files import each other in a loop; move what both need into a file below both:\n{}",
        found.join("\n")
    );
}

/// The circles of a tree of files, described.
fn found_in(files: &[(&str, &str)], ties: impl Fn(&Path) -> Ties) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let above = directory.path().canonicalize().unwrap();
    for (name, text) in files {
        let path: PathBuf = above.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    circles(&ties(&above)).iter().map(describe).collect()
}

fn in_crate(files: &[(&str, &str)]) -> Vec<String> {
    found_in(files, |above| crate_ties(&above.join("lib.rs"), above))
}

#[test]
fn two_files_that_import_each_other_are_a_circle_with_names() {
    let found = in_crate(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::{self, Two, three}; pub struct One;"),
        ("b.rs", "pub struct Two; fn f() -> super::a::One { super::a::One } use crate::c::Four;"),
        ("c.rs", "pub struct Four;"),
    ]);
    assert_eq!(found, ["  a.rs uses b.rs: Two, three\n  b.rs uses a.rs: One\n"]);
}

#[test]
fn circles_without_a_common_file_are_told_apart() {
    let found = in_crate(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; use crate::c::C; pub struct A;"),
        ("b.rs", "use crate::a::A; pub struct B;"),
        ("c.rs", "use crate::d::D; pub struct C;"),
        ("d.rs", "use crate::c::C; pub struct D;"),
    ]);
    assert_eq!(
        found,
        [
            "  a.rs uses b.rs: B\n  b.rs uses a.rs: A\n",
            "  c.rs uses d.rs: D\n  d.rs uses c.rs: C\n"
        ]
    );
}

#[test]
fn a_path_in_code_ties_as_an_import_does() {
    let found = in_crate(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b; pub fn one() { b::two::<u8>(0..crate::c::three()) }"),
        ("b.rs", "pub fn two<T>() {}"),
        ("c.rs", "pub fn three() { super::a::one() }"),
    ]);
    assert_eq!(found, ["  a.rs uses c.rs: three\n  c.rs uses a.rs: one\n"]);
}

#[test]
fn a_face_that_only_re_exports_ties_nothing() {
    let found = in_crate(&[
        ("lib.rs", "mod inner; pub use inner::{First, Second as Other};"),
        ("inner/mod.rs", "mod first; mod second; pub use first::First; pub use second::*;"),
        ("inner/first.rs", "pub struct First(crate::Other);"),
        ("inner/second.rs", "declare!(Second);"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn names_are_followed_through_faces_to_the_file_that_declares_them() {
    let found = in_crate(&[
        ("lib.rs", "mod inner; mod user; pub use inner::*;"),
        ("inner/mod.rs", "mod first; pub use first::First;"),
        ("inner/first.rs", "pub struct First(crate::user::User);"),
        ("user.rs", "pub struct User(crate::First);"),
    ]);
    assert_eq!(
        found,
        ["  inner/first.rs uses user.rs: User\n  user.rs uses inner/first.rs: First\n"]
    );
}

#[test]
fn a_parent_with_code_of_its_own_is_in_a_circle_with_the_child_that_needs_it() {
    let parent = "mod child; pub use child::made; pub struct Kind;";
    let child = ("child.rs", "use super::Kind; pub fn made() -> Kind { Kind }");
    assert!(in_crate(&[("lib.rs", parent), child]).is_empty());
    let with_code = format!("{parent} pub fn make() -> Kind {{ made() }}");
    let found = in_crate(&[("lib.rs", with_code.as_str()), child]);
    assert_eq!(found, ["  child.rs uses lib.rs: Kind\n  lib.rs uses child.rs: made\n"]);
}

#[test]
fn what_is_for_tests_ties_nothing() {
    let found = in_crate(&[
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod only;"),
        (
            "a.rs",
            "use super::b::B; pub struct A;
            #[cfg(test)] #[path = \"elsewhere.rs\"] mod tests;
            #[cfg(test)] impl crate::only::Only for A { fn f(&self) -> [u8; 2] { [0; 2] } }",
        ),
        ("b.rs", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; fn f() {} }"),
        ("only.rs", "use crate::a::A;"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn comments_texts_and_characters_tie_nothing() {
    let b = r###"//! See [`crate::a::A`].
        /* crate::a::A */
        pub fn b<'a>(c: &'a u8) { ('"', '\'', b'{', '\u{7d}'); }
        const TEXTS: [&str; 3] = ["\"crate::a::A", r"\", r#"" crate::a::A "#];"###;
    let a = ("a.rs", "use crate::b::b; pub struct A;");
    assert!(in_crate(&[("lib.rs", "mod a; mod b;"), a, ("b.rs", b)]).is_empty());
    // The code after them is read.
    let b = format!("{b} use crate::a::A;");
    assert_eq!(in_crate(&[("lib.rs", "mod a; mod b;"), a, ("b.rs", b.as_str())]).len(), 1);
}

#[test]
fn modules_within_a_file_and_in_named_files_are_followed() {
    let found = in_crate(&[
        ("lib.rs", "mod outer { pub mod a; } #[path = \"other/name.rs\"] mod b;"),
        ("outer/a.rs", "use crate::b::B; pub struct A;"),
        ("other/name.rs", "mod within { use super::super::outer::a::A; } pub struct B;"),
    ]);
    assert_eq!(found, ["  other/name.rs uses outer/a.rs: A\n  outer/a.rs uses other/name.rs: B\n"]);
}

#[test]
fn names_of_other_crates_tie_nothing() {
    let found = in_crate(&[
        ("lib.rs", "mod a; pub use a::*; use libc; use std::fmt; fn f() { fmt::g(libc::h) }"),
        ("a.rs", "use std::fmt; pub fn a(fmt: fmt::Fmt) { fmt.f() }"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_page_s_files_are_tied_by_relative_imports_also_of_types() {
    let found = found_in(
        &[
            (
                "src/a.ts",
                "import { uPlot } from \"uplot\";\nimport {\n  type B,\n} from \"./b\";\n",
            ),
            ("src/b/index.tsx", "import \"./b.css\";\nexport type { A as B } from \"../a\";\n"),
            ("src/c.ts", "import { A } from \"./a\"; // from \"./c\"\n"),
        ],
        |above| page_ties(&above.join("src"), above),
    );
    assert_eq!(
        found,
        ["  src/a.ts uses src/b/index.tsx: B\n  src/b/index.tsx uses src/a.ts: A, B\n"]
    );
}
