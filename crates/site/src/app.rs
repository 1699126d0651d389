//! The app that shows the documents: a page, a script and a style sheet, built by `web/`; and what
//! describes the documents to other programs.

use crate::Error;

/// The app's files by their paths in the site. `build.rs` takes them from `web/`.
pub(crate) static FILES: [(&str, &[u8]); 4] = [
    ("index.html", include_bytes!(concat!(env!("OUT_DIR"), "/site.html"))),
    ("site.js", include_bytes!(concat!(env!("OUT_DIR"), "/site.js"))),
    ("site.css", include_bytes!(concat!(env!("OUT_DIR"), "/site.css"))),
    ("api/v1/openapi.json", include_bytes!("openapi.json")),
];

/// True if this binary has the app, that is, if `web/` was built before it.
pub fn has_app() -> bool {
    FILES.iter().all(|(_, content)| !content.is_empty())
}

/// Refuses to go on without the app.
pub(crate) fn check() -> Result<(), Error> {
    if has_app() { Ok(()) } else { Err(Error::NoApp) }
}
