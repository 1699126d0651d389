//! Writes the page's types: `web/generated/page.ts` says in TypeScript what [`Page`] and the
//! documents about many experiments serialize to.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::path::Path;

use judge::Verdict;
use ts_rs::{Config, TS, TypeVisitor};

use super::data::Page;
use super::number::Number;
use crate::catalog::{
    ExperimentsDocument, HistoriesDocument, LiveDocument, MachinesDocument, OverviewDocument,
    SummaryDocument,
};

/// The serialized form of [`crate::page::data::PageLatency`]: its map has these keys.
#[derive(TS)]
#[allow(dead_code, reason = "it is only looked at")]
pub(crate) struct Times {
    variant: usize,
    class: String,
    count: u64,
    mean: Number,
    p50: Number,
    p90: Number,
    p95: Number,
    p99: Number,
    p999: Number,
    max: Number,
}

// What the facts of the host serialize to; a comment of documentation would go into the page's
// types.
#[derive(TS)]
#[allow(dead_code, reason = "it is only looked at")]
pub(crate) struct PageFact {
    group: String,
    name: String,
    value: String,
}

/// The serialized form of the warnings of counts.
#[derive(TS)]
#[allow(dead_code, reason = "it is only looked at")]
pub(crate) struct PageCountWarning {
    code: String,
    text: String,
}

/// The declarations of a type and of all that it holds, by name.
#[derive(Default)]
struct Declarations {
    seen: Vec<TypeId>,
    texts: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if self.seen.contains(&TypeId::of::<T>()) {
            return;
        }
        self.seen.push(TypeId::of::<T>());
        T::visit_dependencies(self);
        T::visit_generics(self);
        // Text, numbers, lists and the like have no declaration.
        if T::output_path().is_some() {
            let config = Config::new().with_large_int("number");
            let text = format!("{}export {}", T::docs().unwrap_or_default(), T::decl(&config));
            self.texts.insert(T::ident(&config), laid_out(&text));
        }
    }
}

/// A field or a comment per line. Brackets tell the commas between fields from those inside them.
fn laid_out(declaration: &str) -> String {
    let (mut out, mut depth) = (String::new(), 0);
    for line in declaration.replace("/**\n * ", "/** ").replace("\n */", " */").lines() {
        let comment = line.starts_with("/**") || line.starts_with(" *");
        let parts: Vec<&str> = if comment {
            vec![line]
        } else {
            line.split_inclusive([',', '{']).map(str::trim).collect()
        };
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            match (depth, part.starts_with('}')) {
                (0, _) | (1, true) => out.push('\n'),
                (1, false) => out.push_str("\n  "),
                _ => out.push(' '),
            }
            out.push_str(part);
            if !comment {
                depth += part.matches(['{', '[', '<', '(']).count();
                depth -= part.matches(['}', ']', '>', ')']).count();
            }
        }
    }
    out + "\n"
}

#[test]
fn page_types_are_those_of_its_data() {
    let mut found = Declarations::default();
    found.visit::<Page>();
    found.visit::<OverviewDocument>();
    found.visit::<ExperimentsDocument>();
    found.visit::<LiveDocument>();
    found.visit::<MachinesDocument>();
    found.visit::<HistoriesDocument>();
    found.visit::<SummaryDocument>();
    let verdicts =
        [Verdict::Regression, Verdict::Improvement, Verdict::Equivalent, Verdict::Inconclusive]
            .map(|verdict| format!("\"{verdict}\""));
    let mut text = format!(
        "// Written by `GOLDEN=update cargo test -p steelyard-report page_types` from the Rust structs.\n\n\
         export type Verdict = {};\n",
        verdicts.join(" | ")
    );
    text.extend(found.texts.into_values());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/generated/page.ts");
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == text,
        "{} is stale: the page would read what is no longer written. Run \
         GOLDEN=update cargo test -p steelyard-report page_types, then npm run openapi and npm run check in web/",
        path.display()
    );
}
