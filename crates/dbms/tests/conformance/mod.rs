//! Tests of the requirements for every system under test, on real systems. `subjects` lists them. A
//! new system adds a line there with the facts that the suite needs; no test names a system.

mod copies;
mod failures;
mod killed;
mod lifecycle;
mod measures;
mod subjects;
mod transport;
