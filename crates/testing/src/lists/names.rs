//! The names in source code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::circles::modules::read_crate;
use crate::circles::tokens::{is_name, tokens, without_tests};

/// The names in each file, without those in tests. A name is a list of words, in small letters.
#[derive(Debug, Default)]
pub struct Sources(BTreeMap<String, BTreeSet<Vec<String>>>);

impl Sources {
    /// Adds the files of a crate. They are named below `above`.
    pub fn add(&mut self, root: &Path, above: &Path) {
        let files: BTreeSet<PathBuf> = read_crate(root).into_iter().map(|it| it.file).collect();
        for file in files {
            let source = fs::read_to_string(&file)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let names = without_tests(&tokens(&source)).into_iter().filter_map(words).collect();
            let file = file.strip_prefix(above).unwrap_or(&file);
            self.0.insert(file.display().to_string(), names);
        }
    }

    /// The files in which a name, or successive words of one, is `name`.
    pub fn that_name(&self, name: &str) -> impl Iterator<Item = &str> {
        let wanted = plain(name);
        let is_named = move |words: &Vec<String>| {
            let from =
                |start| (start + 1..=words.len()).any(|end| words[start..end].concat() == wanted);
            (0..words.len()).any(from)
        };
        let files = self.0.iter().filter(move |(_, names)| names.iter().any(&is_named));
        files.map(|(file, _)| file.as_str())
    }

    /// True if there is such a file.
    pub fn has(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.0.keys().any(|file| is_it(file))
    }
}

/// A text in small letters without what joins words.
pub fn plain(text: &str) -> String {
    text.to_lowercase().replace(['_', '-', '.'], "")
}

/// The words of a name (`StoragePlan`, `read_size`), or a whole text in quotes.
fn words(token: &str) -> Option<Vec<String>> {
    if let Some(text) = token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return Some(vec![plain(text)]);
    }
    is_name(token).then(|| {
        let letters: Vec<char> = token.chars().collect();
        let mut words = vec![String::new()];
        for (place, letter) in letters.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| letters[before]);
            let small = |letter: Option<&char>| letter.is_some_and(|it| it.is_lowercase());
            let begins = letter.is_uppercase()
                && before.is_some_and(|it| !it.is_uppercase() || small(letters.get(place + 1)));
            if begins || *letter == '_' {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut().filter(|_| *letter != '_') {
                word.extend(letter.to_lowercase());
            }
        }
        words
    })
}
