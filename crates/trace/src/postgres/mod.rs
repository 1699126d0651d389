//! PostgreSQL's logs.

mod parameters;
pub(crate) mod record;
pub(crate) mod tables;
pub(crate) mod text;
