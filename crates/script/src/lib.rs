//! pgbench's script language: parse, check, evaluate.
//!
//! pgbench's scripts are SQL commands and backslash commands, which know expressions. This crate
//! turns the text of a script into commands that a client can run without parsing anything, and
//! evaluates expressions to what pgbench 17 gives for them. All of it is pure functions over text
//! and numbers: sending, sleeping and choosing a script are up to the caller.
//!
//! - [`parse`] reads a script. Its variables become slots of [`Symbols`], which all scripts of a
//!   workload share, because a client keeps its variables from script to script.
//! - [`check`] finds variables that nothing sets, and what cannot be sent.
//! - A client holds a [`Value`] for each slot, starting with [`initial`], and goes through
//!   [`Script::commands`]. [`Expr::evaluate`] needs a [`Host`] for random bits.
//! - [`Sql::simple`] and [`Sql::numbered`] give the text of statements.
//! - [`built_in`] knows pgbench's own scripts, and [`Weighted`] reads `script@weight`.
//!
//! ```
//! use script::{Action, Protocol, Symbols};
//!
//! let text = "\\set aid random(1, 100000 * :scale)\n\
//!             SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
//! let mut symbols = Symbols::new();
//! let script = script::parse("select.sql", text, &mut symbols).unwrap();
//! let scripts = [script];
//! script::check(&scripts, &symbols, Protocol::Simple).unwrap();
//!
//! // The scale is 10. Random bits come from a generator, which here is a poor one.
//! let mut variables = script::initial(&symbols, [10, 0, 1, 2], []);
//! let (mut state, mut sent) = (1u64, Vec::new());
//! let mut bits = || {
//!     state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
//!     state
//! };
//! for command in &scripts[0].commands {
//!     match &command.action {
//!         Action::Set { slot, expr } => {
//!             let value = expr.evaluate(&variables, &mut bits).unwrap();
//!             variables[slot.index()] = value.into();
//!         }
//!         Action::Sql(sql) => sql.simple(&symbols, &variables, false, &mut sent),
//!         other => panic!("{other:?}"),
//!     }
//! }
//! assert_eq!(sent, b"SELECT abalance FROM pgbench_accounts WHERE aid = 345001;");
//!
//! let error = script::parse("bad.sql", "\\set x randm(1, 2)\n", &mut symbols).unwrap_err();
//! let message = error.to_string();
//! assert!(message.starts_with("bad.sql:1:8: expected a function of pgbench, found randm()"));
//! ```
//!
//! # What differs from pgbench
//!
//! - `\shell` and `\setshell` are refused, and some mistakes that end pgbench's clients while they
//!   run are found by [`parse`] and [`check`].
//! - Random numbers have the same distributions, but are not the same numbers.
//! - `abs` of a truth value is an error (pgbench takes its memory for a double).
//! - Text such as `0x10`, which C reads as a hexadecimal number, isn't one.
//! - Expressions may be nested 32 deep.

mod builtin;
mod draw;
mod error;
mod expr;
mod flow;
mod function;
mod grammar;
mod hash;
mod parse;
mod scan;
mod script;
mod slot;
mod symbols;
mod token;
mod value;

pub use builtin::{BUILT_IN, BuiltIn, ChoiceError, Weighted, built_in};
pub use draw::Host;
pub use error::{EvalError, Position, Problem, ScriptError};
pub use expr::Expr;
pub use flow::{Protocol, check};
pub use function::Function;
pub use parse::parse;
pub use script::{
    Action, Command, Inside, Numbered, Piece, Results, Script, Sleep, Sql, Store, Time, initial,
};
pub use slot::Slot;
pub use symbols::Symbols;
pub use value::{Scalar, Value};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
