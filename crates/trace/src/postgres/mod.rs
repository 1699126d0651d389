//! PostgreSQL's logs.

pub(crate) mod parameters;
pub(crate) mod record;
pub(crate) mod tables;
pub(crate) mod text;
