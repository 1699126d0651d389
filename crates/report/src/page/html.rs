//! One self-contained page: the template built by `web/`, filled with data.

use store::Store;

use super::content::page;
use super::counts;
use crate::ReportError;
use crate::history::HistoryDocument;
use crate::load::model::Results;
use crate::output::time::rfc3339;

/// The page as built by `web/`, or the placeholder of `build.rs`.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));

/// The placeholder that the data replaces; exactly as in `web/report.html`.
const PLACE: &str = r#"<script type="application/json" id="steelyard-data">null</script>"#;

/// True if this binary can write reports, that is, if `web/` was built before it.
pub fn has_page() -> bool {
    TEMPLATE.contains(PLACE)
}

/// Renders the report of an experiment as one self-contained HTML file, with a history if one is
/// given. `writer` is the version of steelyard that writes it. Reads series from the store.
///
/// # Errors
/// When the binary was built without the page, or the store cannot be read.
pub fn html(
    store: &Store,
    results: &Results,
    history: Option<&HistoryDocument>,
    writer: &str,
) -> Result<String, ReportError> {
    let mut page = page(store, results)?;
    page.generated = Some(rfc3339(store::now_ms()));
    page.writer = Some(writer.to_owned());
    page.counts = match counts::of(store, &results.experiment) {
        Ok(None) | Err(ReportError::NoCounts(_)) => counts::latest(store)?,
        own => own?,
    };
    page.history = history.cloned();
    filled(TEMPLATE, &serde_json::to_string(&page)?)
}

fn filled(template: &str, json: &str) -> Result<String, ReportError> {
    let (before, after) = template.split_once(PLACE).ok_or(ReportError::NoPage)?;
    let tag = PLACE.trim_end_matches("null</script>");
    Ok(format!("{before}{tag}{}</script>{after}", harmless(json)))
}

/// Escapes JSON so that it cannot end its script element (`</script`, `<!--`) and is all ASCII, so
/// that the browser keeps the page in one byte per character. In JSON these characters occur only
/// inside strings, where escapes mean the same.
fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    let mut units = [0_u16; 2];
    for c in json.chars() {
        if c.is_ascii() && c != '<' {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_break_out() {
        let nasty = "</script><script>alert(1)</script>\u{2028}<!-- \\ \" – 🐘";
        let json = serde_json::to_string(nasty).unwrap();
        let page = filled(&format!("<html>{PLACE}</html>"), &json).unwrap();
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(!page.contains("<!--") && page.is_ascii());
        let start = page.find("steelyard-data\">").unwrap() + "steelyard-data\">".len();
        let end = page.find("</script>").unwrap();
        let back: String = serde_json::from_str(&page[start..end]).unwrap();
        assert_eq!(back, nasty);
    }

    #[test]
    fn a_binary_without_the_page_says_so() {
        let error = filled("<!-- built without the page: run `make build` -->", "{}").unwrap_err();
        assert!(error.to_string().contains("run `make build`"), "{error}");
    }
}
