//! Exact counts of instructions and other [events](Event), per function, by Callgrind (a tool of
//! valgrind).
//!
//! A program under Callgrind runs about 50 times slower, on a simulated CPU, and each of its
//! instructions is counted. Counts do not depend on what else the machine does. They show
//! differences of a thousandth between two builds, which no clock can.
//!
//! To get the cost of something inside a long-running program, use a **mark**: a function that the
//! program calls before and after. With [`Valgrind::command_line`], Callgrind writes its counts at
//! each entry of the mark and starts again:
//!
//! 1. [`Valgrind::find`] and [`Valgrind::command_line`] give the words to put before the program's
//!    command.
//! 2. [`dumps`] lists the written files. [`Profile::read`] reads one: the stretch between two
//!    marks.
//! 3. [`Profile::minus`] subtracts a stretch that contains only the mark. The rest is the cost of
//!    the code between the marks.
//!
//! ```
//! let dump = "\
//! version: 1
//! positions: line
//! events: Ir
//! summary: 820
//!
//! fn=(1) main
//! 16 20
//! cfn=(2) scan
//! calls=3 20
//! 16 800
//!
//! fn=(2)
//! 20 800
//! totals: 820
//! ";
//! use probe::callgrind::{Event, Profile};
//! let path = "callgrind.out.1".as_ref();
//! let profile = Profile::parse(dump.as_bytes(), path, Event::Instructions)?;
//! assert_eq!(profile.total, 820);
//! assert_eq!(profile.functions["main"].inclusive, 820);
//! assert_eq!(profile.functions["scan"].calls, 3);
//! # Ok::<(), probe::callgrind::CallgrindError>(())
//! ```
//!
//! # Functions that are on the stack at a mark
//!
//! A mark is deep in the program, so functions such as a server's main loop are entered in one
//! stretch and left in a later one. At a dump, Callgrind adds to every active call its cost *in
//! this stretch* and counts on from there. Inclusive costs are therefore those of the stretch, for
//! such functions too. Only the **calls** are counted where they began: a call belongs to the
//! stretch in which it is entered, and later stretches have its cost with 0 calls. Stretches that
//! begin and end at the same place in the program have the same remains, and [`Profile::minus`]
//! removes them.
//!
//! # What a count depends on
//!
//! A count depends neither on the load of the machine nor on addresses. With valgrind 3.19 and
//! single-user Postgres 15, two runs of the same command had the same cost in each of twelve
//! stretches. It was exactly 53,527 for a mark alone and 102,286 for a lookup by primary key. Some
//! things change a count slightly:
//!
//! - **The environment and the command line** move data in memory, and `strlen`, `strncmp` and
//!   `strncpy` depend on alignment. With 3 kB more in the environment, the mark took 20 more
//!   instructions and the lookup 43 fewer. With a longer name of the data directory, 7 and 17
//!   fewer.
//! - **Turning off address randomization** (`setarch -R`): 2 more and 8 fewer. Left on, as usual,
//!   it did not matter.
//! - **Work that the program does by the clock**, such as flushing statistics once per second. On a
//!   machine loaded to six times its CPUs, single marks cost between 53,475 and 56,989. Stretches
//!   are therefore repeated, and the minimum or median is used.
//! - **Earlier work of the program**: the first run of a statement fills caches.
//!
//! # Recursion
//!
//! Callgrind separates the outermost activation of a function from deeper ones, which are named
//! `name'2`. Otherwise, a function that calls itself would be charged twice for its inner calls.
//! [`Profile`] merges them into one entry per function; see `fold.rs`.

mod cost;
mod dumps;
mod error;
mod event;
mod fold;
mod format;
mod profile;
mod raw;
mod valgrind;

pub use cost::Cost;
pub use dumps::{Dump, dumps};
pub use error::CallgrindError;
pub use event::Event;
pub use profile::{Profile, SEES_RETURNS};
pub use valgrind::Valgrind;
