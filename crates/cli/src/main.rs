//! The `steelyard` command.
fn main() {}
