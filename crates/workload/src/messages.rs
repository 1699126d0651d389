//! Rows sent in bulk, as messages.

use crate::copy::{Content, Copy, Generated, Generator};
use crate::draw::Source;
use crate::{tpcc, tpch};

impl Copy {
    /// Makes the rows of one execution in COPY's text format, in messages that begin with `head`
    /// and have at least so many bytes, but for the last; returns how many rows there are.
    ///
    /// # Errors
    ///
    /// Those of `send`.
    pub fn in_messages<E>(
        &self,
        source: &Source<'_>,
        head: &[u8],
        least: usize,
        mut send: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut message = Vec::with_capacity(least + 1024);
        message.extend_from_slice(head);
        let mut rows = 0;
        let mut ended = |message: &mut Vec<u8>| {
            rows += 1;
            if message.len() < least {
                return Ok(());
            }
            send(message)?;
            message.truncate(head.len());
            Ok(())
        };
        match &self.content {
            Content::Numbered(numbered) => {
                for number in numbered.numbers(source) {
                    numbered.row(number, &mut message);
                    ended(&mut message)?;
                }
            }
            Content::Generated(generated) => {
                for line in lines(generated) {
                    message.extend_from_slice(line.as_bytes());
                    message.push(b'\n');
                    ended(&mut message)?;
                }
            }
        }
        if message.len() > head.len() {
            send(&mut message)?;
        }
        Ok(rows)
    }

    /// Makes what its generator needs, once in this process. Otherwise it is made when the first
    /// row is, while a server waits, in the time of a step.
    pub fn make_ready(&self) {
        if let Content::Generated(generated) = &self.content {
            drop(lines(generated));
        }
    }
}

/// The rows of a part of a generated table in COPY's text format, without ends of lines.
fn lines(of: &Generated) -> Box<dyn Iterator<Item = String> + Send> {
    match of.by {
        Generator::Tpcc => tpcc::rows(of),
        Generator::Tpch => tpch::rows(of),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use super::*;
    use crate::copy::{Column, Numbered};
    use crate::{Cell, Padded, Rng};

    #[test]
    fn every_row_is_in_one_message() {
        for (rows, wanted) in [(0, &[][..]), (2, &["h1\n2\n"]), (3, &["h1\n2\n", "h3\n"])] {
            let columns = vec![Column::Number { every: 1 }];
            let content = Content::Numbered(Numbered { rows, first: 0, sent: Cell(0), columns });
            let cells = [Padded(AtomicI64::new(0))];
            let source = Source { rng: &mut Rng::new(1), cells: &cells, kept: &[] };
            let mut messages = Vec::new();
            let copy = Copy { table: "t".to_owned(), content };
            let sent = copy.in_messages(&source, b"h", 5, |message| {
                messages.push(String::from_utf8(message.to_vec()).unwrap());
                Ok::<_, ()>(())
            });
            assert_eq!(sent, Ok(rows));
            assert_eq!(messages, wanted);
        }
    }
}
