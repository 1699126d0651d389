//! Takes in the page that `web/` builds here, or a stand-in that says what is missing.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Keep in step with `html.rs`, which refuses to write a report with it.
const STAND_IN: &str = "<!-- built without the page: run `make build` -->\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("page/report.html");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", page.display());
    let html = if page.is_file() { fs::read_to_string(&page)? } else { STAND_IN.to_owned() };
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("report.html"), html)?;
    Ok(())
}
