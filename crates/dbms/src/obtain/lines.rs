//! The lines at which functions begin in the source of an installation.

use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::Installation;
use crate::data::paths;

/// The line at which a function begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionLine {
    /// The file, as debug information names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Where `function` of the program or library `object` (a file name) begins. `None` if that is not
/// known: the installation has no such file, no debug information, or several functions of this
/// name. Names of C++ are mangled in a program, so those of its functions are not known.
pub fn function_line(
    installation: &Installation,
    object: &str,
    function: &str,
) -> Option<FunctionLine> {
    let root = installation.bin_dir.as_deref()?.parent()?;
    let path = find(root, object)?;
    let bytes = std::fs::read(&path).ok()?;
    let address = address(&bytes, function)?;
    let loader = Loader::new(&path).ok()?;
    let location = loader.find_location(address).ok()??;
    let line = location.line.filter(|line| *line > 0)?;
    Some(FunctionLine { file: location.file?.to_owned(), line })
}

/// The program or library of this name.
fn find(root: &Path, name: &str) -> Option<PathBuf> {
    let mut found = None;
    for folder in ["bin", "lib", "lib64"] {
        // An installation may lack one of them.
        let _ = paths::walk(&root.join(folder), &mut |path, metadata| {
            let named = path.file_name().is_some_and(|it| it == name);
            if metadata.is_file() && named && found.is_none() {
                found = Some(path.to_owned());
            }
            Ok(())
        });
    }
    found
}

/// The address of the only function of this name.
fn address(bytes: &[u8], function: &str) -> Option<u64> {
    let file = object::File::parse(bytes).ok()?;
    let named = |wanted: &dyn Fn(&str) -> bool| {
        let texts = file.symbols().filter(|it| it.kind() == SymbolKind::Text);
        let found = texts.filter(|it| it.name().is_ok_and(wanted));
        let mut found: Vec<u64> = found.map(|it| it.address()).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    // Compilers append to names: `.isra.0`, and `.cold` for a part that is rarely needed.
    let appended = |name: &str| {
        let more = name.strip_prefix(function);
        more.is_some_and(|more| more.starts_with('.') && !more.contains(".cold"))
    };
    let exact = named(&|name| name == function);
    let found = if exact.is_empty() { named(&appended) } else { exact };
    match found[..] {
        [only] => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn a_function_begins_where_it_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let (root, bin) = (directory.path(), directory.path().join("bin"));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir(&bin).unwrap();
        let program = "static int twice(int x)\n{\n  return 2 * x;\n}\n\n\
                       int main(int c, char **v)\n{\n  return twice(c);\n}\n";
        fs::write(root.join("src/program.c"), program).unwrap();
        let compile = |flag: &str| {
            let mut cc = Command::new("cc");
            let status = cc.args([flag, "-O0", "-o", "bin/program", "src/program.c"]);
            assert!(status.current_dir(root).status().unwrap().success());
        };
        let installation = Installation {
            dbms: "postgres".to_owned(),
            version: "1".to_owned(),
            source: String::new(),
            bin_dir: Some(bin),
            build: [].into(),
        };
        let line = |function: &str| function_line(&installation, "program", function);
        compile("-g");
        let twice = line("twice").unwrap();
        assert!(Path::new(&twice.file).ends_with("src/program.c"), "{twice:?}");
        assert!((1..=2).contains(&twice.line), "{twice:?}");
        assert!((6..=7).contains(&line("main").unwrap().line));
        assert_eq!(line("thrice"), None);
        assert_eq!(function_line(&installation, "other", "main"), None);
        compile("-g0");
        assert_eq!(line("main"), None);
    }
}
