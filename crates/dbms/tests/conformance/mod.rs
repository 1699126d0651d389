//! What every system under test must do, tested on real ones. `subjects` lists them. A new system
//! adds a line there with the facts that the suite needs; no test names a system.

mod copies;
mod failures;
mod killed;
mod lifecycle;
mod measures;
mod subjects;
mod transport;
