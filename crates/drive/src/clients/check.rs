//! Checks of answers.

use workload::Expect;

use crate::error::Error;
use crate::wire::Reply;

/// Checks that the answer is right for the request; `shown` gives the request for a message.
#[inline]
pub fn check(expect: &Expect, reply: Reply, shown: impl Fn() -> String) -> Result<(), Error> {
    let right = match *expect {
        Expect::Rows { min, max } => (min..=max).contains(&reply.rows),
        Expect::Affected { min, max } => (min..=max).contains(&reply.affected),
        Expect::Success => true,
    };
    if right { Ok(()) } else { Err(wrong(*expect, reply, shown)) }
}

#[cold]
fn wrong(expect: Expect, reply: Reply, shown: impl Fn() -> String) -> Error {
    let (expected, found) = match expect {
        Expect::Rows { min, max } => {
            (format!("{} rows", numbers(min.into(), max.into())), reply.rows.to_string())
        }
        Expect::Affected { min, max } => {
            (format!("{} rows affected", numbers(min, max)), reply.affected.to_string())
        }
        Expect::Success => ("success".to_owned(), "failure".to_owned()),
    };
    Error::WrongAnswer { expected, found, statement: shown().chars().take(120).collect() }
}

fn numbers(min: u64, max: u64) -> String {
    if min == max { min.to_string() } else { format!("{min} to {max}") }
}
