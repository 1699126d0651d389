//! The HTML page.
//!
//! `content` gathers what the page shows in the shape that `data` declares; the other files are its
//! parts. `document` gives it alone, `html` puts it into the template that `web/` builds.

mod content;
mod counts;
pub(crate) mod data;
pub(crate) mod document;
pub(crate) mod html;
mod number;
mod profiles;
mod slices;
mod sweeps;
#[cfg(test)]
pub(crate) mod types_tests;
mod why;
