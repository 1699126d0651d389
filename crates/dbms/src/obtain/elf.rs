//! Facts about how a binary was made, read from the binary: symbols, debug information, compilers.

use std::collections::BTreeMap;

use object::{Object, ObjectSection};

use crate::api::builds::{COMMENT, COMPILER, DEBUG_INFO, SERVER_HASH, SYMBOLS};
use crate::data::hash;

/// The hash of an ELF file, and the facts in it, by the keys of [`crate::builds`]. [`COMMENT`] is
/// what each compiler that made a part of it wrote there; one alone is its [`COMPILER`].
pub(crate) fn facts(bytes: &[u8]) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::from([(SERVER_HASH.to_owned(), hash::of(bytes))]);
    let mut add = |key: &str, value: &str| facts.insert(key.to_owned(), value.to_owned());
    let file = match object::File::parse(bytes) {
        Ok(file) => file,
        Err(error) => {
            add(SYMBOLS, &format!("unknown: {error}"));
            return facts;
        }
    };
    let symbols = if file.symbols().next().is_some() {
        "all (.symtab)"
    } else if file.dynamic_symbols().next().is_some() {
        "exported (.dynsym)"
    } else {
        "none"
    };
    add(SYMBOLS, symbols);
    let debug = file.section_by_name(".debug_info").is_some();
    add(DEBUG_INFO, if debug { "yes" } else { "no" });
    let comment = file.section_by_name(".comment").and_then(|it| it.uncompressed_data().ok());
    let comment = comment.unwrap_or_default();
    let texts = comment.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text));
    let mut texts: Vec<String> =
        texts.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect();
    texts.sort();
    texts.dedup();
    if !texts.is_empty() {
        add(COMMENT, &texts.join("; "));
    }
    if let [compiler] = texts.as_slice() {
        add(COMPILER, compiler);
    }
    facts
}
