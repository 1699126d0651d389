//! What every system under test must do, shown on real ones. `subjects` lists them: a new system
//! adds a line there and says what the suite must know of it; no test names one.

mod failures;
mod killed;
mod lifecycle;
mod measures;
mod subjects;
