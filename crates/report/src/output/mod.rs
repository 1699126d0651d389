//! Output in any format, whatever its subject.
//!
//! A `sheet` holds the parts of an output in order, most of them a `table`. It is written by `text`
//! (also Markdown) and `csv`; `panels` draws charts. `fit` makes it as narrow as a terminal.
//! `number`, `time` and `waits` say how figures, points in time and names of waits are spelled.

pub(crate) mod csv;
pub(crate) mod fit;
pub(crate) mod number;
pub(crate) mod panels;
pub(crate) mod sheet;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod waits;
