//! MySQL 5.6 to 8.4 and MariaDB 10.1 to 11.4, with InnoDB and MyRocks.
//!
//! `control` is the connection for all but the load. `counters` reads what the server counts, by
//! the names in `moved`, with `monitor` for InnoDB and `rocks` for MyRocks; `gauges` watches some
//! of it each second. `tables` has sizes, `settings` what was configured. `settle` pays off the
//! `debt`, with settings `changed` for a while. `plans` reads what EXPLAIN says, `log` the error
//! log, `waits` what sessions wait for. `profile` has the functions of a statement's phases.

// Until `server` calls them.
#![allow(dead_code)]

mod changed;
mod control;
mod counters;
mod debt;
mod gauges;
mod log;
mod marked;
mod monitor;
mod moved;
#[cfg(test)]
mod on_servers;
mod plans;
mod profile;
mod rocks;
mod settings;
mod settle;
mod tables;
mod version;
mod waits;
