//! Exact counts of instructions, per function, by Callgrind (a tool of valgrind).
//!
//! A program under Callgrind runs some 50 times slower, on a simulated CPU, and every instruction
//! of it is counted. Counts do not depend on what else the machine does, so that differences of a
//! thousandth between two builds can be seen, which no clock shows.
//!
//! The way to the cost of something inside a long-running program is a **mark**: a function that
//! the program calls before and after. Told so by [`Valgrind::command_line`], Callgrind writes what
//! it counted at each entry of the mark and begins anew:
//!
//! 1. [`Valgrind::find`] and [`Valgrind::command_line`] say what stands in front of the program's
//!    command.
//! 2. [`dumps`] lists the files that were written, [`Profile::read`] reads one: the stretch between
//!    two marks.
//! 3. [`Profile::minus`] takes away a stretch that holds the mark alone. What remains is the cost
//!    of what ran between the marks.
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
//! let profile = probe::callgrind::Profile::parse(dump.as_bytes(), "callgrind.out.1".as_ref())?;
//! assert_eq!(profile.instructions, 820);
//! assert_eq!(profile.functions["main"].inclusive, 820);
//! assert_eq!(profile.functions["scan"].calls, 3);
//! # Ok::<(), probe::callgrind::CallgrindError>(())
//! ```
//!
//! # Functions that are on the stack at a mark
//!
//! A mark lies deep in the program, so functions such as a server's main loop are entered in one
//! stretch and left in a later one. At a dump Callgrind adds to every call that is under way what
//! it has cost *in this stretch* and counts on from there, so inclusive costs are those of the
//! stretch, for such functions too. Only the **calls** are noted where they began: the stretch in
//! which a call is entered has it, the later ones have 0 calls with a cost. Stretches that begin
//! and end at the same place in the program have the same such remains, and [`Profile::minus`]
//! takes them away.
//!
//! # What a count depends on
//!
//! Not on the load of the machine, nor on addresses. With valgrind 3.19 and single-user Postgres
//! 15, two runs of the same command cost the same in each of twelve stretches, to the instruction:
//! 53,527 for a mark alone, 102,286 for a look-up by primary key. What moves a count a little:
//!
//! - **the environment and the command line**: they move what lies in memory, and `strlen`,
//!   `strncmp` and `strncpy` go by alignment. 3 kB more in the environment: 20 instructions more
//!   for the mark, 43 fewer for the look-up; a longer name of the data directory: 7 and 17 fewer;
//! - **randomised addresses switched off** (`setarch -R`): 2 more and 8 fewer. Left on, as usual,
//!   they did not matter;
//! - **what the program does by the clock**, such as flushing statistics once per second. On a
//!   machine with six times as much to do as CPUs, single marks cost between 53,475 and 56,989. So
//!   stretches are repeated and the least or the median is taken;
//! - **what the program did before**: the first run of a statement fills caches.
//!
//! # Recursion
//!
//! Callgrind keeps the outermost activation of a function apart from deeper ones, which are named
//! `name'2`; a function that calls itself would otherwise be charged for its inner calls twice.
//! [`Profile`] has one entry per function again, `fold.rs` says how.

mod dumps;
mod error;
mod fold;
mod format;
mod profile;
mod raw;
mod valgrind;

pub use dumps::{Dump, dumps};
pub use error::CallgrindError;
pub use profile::{Cost, Profile};
pub use valgrind::Valgrind;
