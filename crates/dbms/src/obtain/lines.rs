//! The lines at which functions begin in the source of an installation.

use std::path::{Path, PathBuf};

use addr2line::Loader;
use addr2line::gimli::DW_LANG_C_plus_plus;
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
/// name. A name of C++ is one that Callgrind has made readable.
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
    // There, types are spelled in several ways, but for their spaces.
    let readable = |name: &str| {
        let name = addr2line::demangle(name, DW_LANG_C_plus_plus);
        name.is_some_and(|name| without_spaces(&name).eq(without_spaces(function)))
    };
    let ways: [&dyn Fn(&str) -> bool; 3] = [&|name| name == function, &appended, &readable];
    let found = ways.into_iter().map(named).find(|found| !found.is_empty())?;
    match found[..] {
        [only] => Some(only),
        _ => None,
    }
}

fn without_spaces(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|letter| !letter.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// An installation below a directory.
    fn installation(root: &Path) -> Installation {
        Installation { bin_dir: Some(root.join("bin")), ..Installation::of("postgres", "1") }
    }

    /// Compiles a source to `bin/program`.
    fn compile(root: &Path, compiler: &str, flag: &str, source: &str) {
        let mut command = Command::new(compiler);
        let command = command.args([flag, "-O0", "-o", "bin/program", source]).current_dir(root);
        assert!(command.status().unwrap().success());
    }

    #[test]
    fn a_function_begins_where_it_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir(root.join("bin")).unwrap();
        let program = "static int twice(int x)\n{\n  return 2 * x;\n}\n\n\
                       int main(int c, char **v)\n{\n  return twice(c);\n}\n";
        fs::write(root.join("src/program.c"), program).unwrap();
        let installation = installation(root);
        let line = |function: &str| function_line(&installation, "program", function);
        compile(root, "cc", "-g", "src/program.c");
        let twice = line("twice").unwrap();
        assert!(Path::new(&twice.file).ends_with("src/program.c"), "{twice:?}");
        assert!((1..=2).contains(&twice.line), "{twice:?}");
        assert!((6..=7).contains(&line("main").unwrap().line));
        assert_eq!(line("thrice"), None);
        assert_eq!(function_line(&installation, "other", "main"), None);
        compile(root, "cc", "-g0", "src/program.c");
        assert_eq!(line("main"), None);
    }

    #[test]
    fn names_of_cpp_are_those_that_callgrind_prints() {
        if Command::new("c++").arg("--version").output().is_err() {
            return testing::skip("there is no C++ compiler");
        }
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("bin")).unwrap();
        let program = "#include <vector>\nnamespace a { struct B {\n\
                       int get(const char *c, unsigned long n);\nint get(int c);\n\
                       template <class T> int all(const std::vector<T> &x);\n}; }\n\
                       int a::B::get(const char *c, unsigned long n) { return c[n]; }\n\
                       int a::B::get(int c) { return c; }\n\
                       template <class T> int a::B::all(const std::vector<T> &x) { return x.size(); }\n\
                       int main(int c, char **v) {\n  a::B b;\n\
                         return b.get(*v, 0) + b.get(c) + b.all(std::vector<char *>(1));\n}\n";
        fs::write(root.join("program.cc"), program).unwrap();
        compile(root, "c++", "-g", "program.cc");
        let installation = installation(root);
        let line = |function: &str| {
            let found = function_line(&installation, "program", function);
            found.map(|FunctionLine { line, .. }| line)
        };
        assert_eq!(line("a::B::get(char const*, unsigned long)"), Some(7));
        assert_eq!(line("a::B::get(int)"), Some(8));
        let all = "int a::B::all<char*>(std::vector<char*, std::allocator<char*> > const&)";
        assert_eq!(line(all), Some(9));
        assert_eq!(line("a::B::get(long)"), None);
    }
}
