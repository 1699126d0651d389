//! The table of metrics in `docs/glossary.md`.

use std::path::Path;

const BEGIN: &str = "--test room`. -->\n";
const END: &str = "<!-- end -->";

fn table() -> String {
    let mut out = String::from("| metric | unit | better | what it is |\n|---|---|---|---|\n");
    for metric in metrics::all() {
        let published = match metric.published {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        out.push_str(&format!(
            "| `{}`{published} | {} | {} | {} |\n",
            metric.name,
            metric.unit,
            metric.better.as_str(),
            metric.meaning
        ));
    }
    out
}

#[test]
fn the_glossary_has_every_metric() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/glossary.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the place of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let right = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, &right).unwrap();
    } else {
        assert!(
            text == right,
            "docs/glossary.md differs from the declared metrics; GOLDEN=update rewrites its table"
        );
    }
}
