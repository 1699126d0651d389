//! PostgreSQL's logs, and its digests.

pub(crate) mod digests;
pub(crate) mod parameters;
pub(crate) mod record;
pub(crate) mod tables;
pub(crate) mod text;
