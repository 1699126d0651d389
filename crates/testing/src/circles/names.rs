//! Finds the file that a path leads to.

use std::path::Path;

use super::graph::Ties;
use super::modules::{Module, read_crate};

/// More steps than it takes from any name to its declaration. The limit ends loops: a name from
/// another crate leads back to itself (`use libc;`).
const STEPS: usize = 16;

/// The item that a path leads to.
enum Found {
    /// A module, by its number.
    Module(usize),
    /// Something in the file of a module.
    Item(usize),
}

/// The ties between the files of a crate. Files are named below `above`.
///
/// A re-export leads to where the name is declared. It ties its own file to that one only if the
/// code there mentions the name, too. Declaring or importing a module ties nothing until a name in
/// it is used.
pub fn crate_ties(root: &Path, above: &Path) -> Ties {
    let modules = read_crate(root);
    let name_of = |number: usize| {
        let file = &modules[number].file;
        file.strip_prefix(above).unwrap_or(file).display().to_string()
    };
    let mut ties = Ties::new();
    for (number, module) in modules.iter().enumerate() {
        let imports = module.imports.iter().filter(|import| !import.public);
        for path in imports.map(|import| &import.path).chain(&module.mentioned) {
            if let Some(Found::Item(other)) = find(&modules, number, path, STEPS)
                && modules[other].file != module.file
            {
                let names = ties.entry((name_of(number), name_of(other))).or_default();
                names.extend(path.last().cloned());
            }
        }
    }
    ties
}

/// Follows a path from a module. `None` if it leads to another crate.
fn find(modules: &[Module], from: usize, path: &[String], steps: usize) -> Option<Found> {
    let mut at = from;
    for (step, name) in path.iter().enumerate() {
        at = match name.as_str() {
            "crate" => 0,
            "self" => at,
            "super" => modules[at].parent?,
            "*" => return Some(Found::Item(at)),
            name => match find_name(modules, at, name, steps) {
                Some(Found::Module(inner)) => inner,
                Some(item) => return Some(item),
                // A macro declares it.
                None if step > 0 => return Some(Found::Item(at)),
                None => return None,
            },
        };
    }
    Some(Found::Module(at))
}

fn find_name(modules: &[Module], at: usize, name: &str, steps: usize) -> Option<Found> {
    let module = &modules[at];
    if let Some(child) = module.children.get(name) {
        return Some(Found::Module(*child));
    }
    let steps = steps.checked_sub(1)?;
    let mut imports = module.imports.iter().filter(|import| import.name == name).peekable();
    if imports.peek().is_some() {
        return imports.find_map(|import| find(modules, at, &import.path, steps));
    }
    if module.declared.contains(name) {
        return Some(Found::Item(at));
    }
    let globs = module.imports.iter().filter(|import| import.name == "*");
    globs.filter_map(|import| import.path.split_last()).find_map(|(_, path)| {
        let Found::Module(other) = find(modules, at, path, steps)? else { return None };
        find_name(modules, other, name, steps).or_else(|| by_macro(modules, other, name))
    })
}

/// A constant or a type that a macro probably declares, because its name is in the module.
fn by_macro(modules: &[Module], at: usize, name: &str) -> Option<Found> {
    let mentioned = name.starts_with(char::is_uppercase)
        && modules[at].mentioned.contains(&vec![name.to_owned()]);
    mentioned.then_some(Found::Item(at))
}
