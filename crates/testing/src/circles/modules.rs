//! The modules of a crate: what each declares, imports and mentions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::tokens::{group, is_name, tokens, without_tests};

/// Keywords before the name of a declared item.
const DECLARING: [&str; 8] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];

/// A module.
#[derive(Default)]
pub struct Module {
    /// The file that contains it.
    pub file: PathBuf,
    /// Where the files of its modules are.
    directory: PathBuf,
    /// The module that declares it, by its number.
    pub parent: Option<usize>,
    /// The modules that it declares, by their numbers.
    pub children: BTreeMap<String, usize>,
    /// The names that its `use` items import.
    pub imports: Vec<Import>,
    /// The items that it declares itself.
    pub declared: BTreeSet<String>,
    /// The paths in its code.
    pub mentioned: BTreeSet<Vec<String>>,
}

/// A name that a `use` item brings.
pub struct Import {
    /// The path that it means; the last name is `*` if it means everything there.
    pub path: Vec<String>,
    /// The name here, or `*`.
    pub name: String,
    /// True if it is a re-export.
    pub public: bool,
}

/// Reads the modules of a crate. The first is its root.
pub fn read_crate(root: &Path) -> Vec<Module> {
    let mut all = Vec::new();
    let directory = root.with_file_name("");
    add_file(&mut all, Module { file: root.to_owned(), directory, ..Module::default() });
    all
}

/// Adds a module in its own file, and the modules below it. Returns its number.
fn add_file(all: &mut Vec<Module>, module: Module) -> usize {
    let source = fs::read_to_string(&module.file)
        .unwrap_or_else(|error| panic!("the module {}: {error}", module.file.display()));
    add(all, module, &without_tests(&tokens(&source)))
}

fn add(all: &mut Vec<Module>, module: Module, tokens: &[&str]) -> usize {
    let number = all.len();
    all.push(module);
    read(all, number, tokens);
    number
}

fn read(all: &mut Vec<Module>, number: usize, tokens: &[&str]) {
    let mut place = None;
    let mut at = 0;
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        let before = &tokens[..at];
        at += match rest {
            ["#", "[", "path", "=", path, "]", ..] => {
                place = Some(path.trim_matches('"'));
                6
            }
            ["mod", name, ";", ..] => {
                let module = below(&all[number], number, name);
                let file = place.take().map(|place| all[number].file.with_file_name(place));
                let file = file.unwrap_or_else(|| file_of(&module.directory));
                let child = add_file(all, Module { file, ..module });
                all[number].children.insert((*name).to_owned(), child);
                3
            }
            ["mod", name, "{", ..] => {
                let body = group(&rest[2..]);
                let module = below(&all[number], number, name);
                let child = add(all, module, &rest[3..body + 1]);
                all[number].children.insert((*name).to_owned(), child);
                2 + body
            }
            ["use", tree @ ..] => {
                let end = tree.iter().position(|token| *token == ";").unwrap_or(tree.len());
                let public = matches!(before, [.., "pub" | ")"]);
                import(&mut all[number].imports, &tree[..end], &[], public);
                end + 2
            }
            ["const", "fn", ..] => 1,
            [word, name, ..]
                if DECLARING.contains(word) && is_name(name) && !before.ends_with(&["*"]) =>
            {
                all[number].declared.insert((*name).to_owned());
                2
            }
            [word, ..] if is_name(word) => {
                let path = path(rest);
                let tokens = 2 * path.len() - 1;
                // A field or a method has a dot before it; a range has two.
                let of_value = before.ends_with(&["."]) && !before.ends_with(&[".", "."]);
                if !of_value && !before.ends_with(&["::"]) {
                    all[number].mentioned.insert(path);
                }
                tokens
            }
            _ => 1,
        };
    }
}

/// A module in another, in its file if it has no other.
fn below(parent: &Module, number: usize, name: &str) -> Module {
    let (file, directory) = (parent.file.clone(), parent.directory.join(name));
    Module { file, directory, parent: Some(number), ..Module::default() }
}

/// The file of the module whose own modules are in `directory`.
fn file_of(directory: &Path) -> PathBuf {
    let candidates = [directory.with_extension("rs"), directory.join("mod.rs")];
    let file = candidates.into_iter().find(|file| file.exists());
    file.unwrap_or_else(|| panic!("expected the file of the module {}", directory.display()))
}

/// The path at the beginning of the tokens.
fn path(tokens: &[&str]) -> Vec<String> {
    let mut path = vec![tokens[0].to_owned()];
    let mut rest = &tokens[1..];
    while let ["::", name, after @ ..] = rest
        && is_name(name)
    {
        path.push((*name).to_owned());
        rest = after;
    }
    path
}

/// Adds the names of a tree: the text after `use`, or below the path `above` in braces.
fn import(found: &mut Vec<Import>, tree: &[&str], above: &[String], public: bool) {
    let mut depth = 0;
    let branches = tree.split(|token| {
        depth += i32::from(*token == "{") - i32::from(*token == "}");
        *token == "," && depth == 0
    });
    for branch in branches {
        let end = branch.iter().position(|token| matches!(*token, "{" | "as"));
        let (names, after) = branch.split_at(end.unwrap_or(branch.len()));
        let names = names.iter().filter(|token| **token != "::").map(|name| (*name).to_owned());
        let mut path: Vec<String> = above.iter().cloned().chain(names).collect();
        if let ["{", within @ .., "}"] = after {
            import(found, within, &path, public);
            continue;
        }
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let alias = after.get(1).map(|alias| (*alias).to_owned());
        if let Some(name) = alias.or_else(|| path.last().cloned()).filter(|_| !branch.is_empty()) {
            found.push(Import { path, name, public });
        }
    }
}
