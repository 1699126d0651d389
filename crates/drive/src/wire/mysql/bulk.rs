//! Rows sent in bulk: LOAD DATA LOCAL, whose format of rows is that of COPY.

use workload::{Copy, Source};

use super::HEADER;
use super::message::query;
use super::reply::{Form, Keep, Receiver};
use crate::error::Error;
use crate::wire::socket::Socket;
use crate::wire::{Kept, Reply};

/// Bytes of a packet.
const CHUNK: usize = 64 * 1024;

/// Errors of servers whose `local_infile` is off: of older ones, MySQL 8.0, and newer MariaDB.
const REFUSED: [&str; 3] = ["1148 ", "3948 ", "4166 "];

/// The statement before the rows. Generators write ASCII, and anything else is a warning. A
/// backslash means the same in every `sql_mode`.
pub fn statement(copy: &Copy) -> String {
    let format = "CHARACTER SET ascii FIELDS ESCAPED BY x'5c'";
    format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} {format}", copy.table)
}

/// Sends the rows of one execution; returns how many. The answer is outstanding.
pub fn send_rows(
    copy: &Copy,
    source: &Source<'_>,
    socket: &mut Socket,
    receiver: &mut Receiver,
) -> Result<u64, Error> {
    let statement = statement(copy);
    socket.send(&query(statement.as_bytes()))?;
    if let Err(mut error) = receiver.asks_for_rows(socket)? {
        if REFUSED.iter().any(|code| error.code.starts_with(code)) {
            "loads need the server's setting local_infile = 1".clone_into(&mut error.hint);
        }
        return Err(Error::Server { error: Box::new(error), statement });
    }
    // The request for the rows was number 1.
    let mut number = 1_u8;
    let mut send = |message: &mut [u8]| -> Result<(), Error> {
        number = number.wrapping_add(1);
        let mut header = ((message.len() - HEADER) as u32).to_le_bytes();
        header[3] = number;
        message[..HEADER].copy_from_slice(&header);
        Ok(socket.send(message)?)
    };
    let rows = copy.in_messages(source, &[0; HEADER], CHUNK, &mut send)?;
    // An empty packet is their end.
    send(&mut [0; HEADER])?;
    Ok(rows)
}

/// An error unless all rows that were sent are stored as they are. What other statements fail with,
/// such as a duplicate, is at most a warning here: the row is left out, and the others stay.
pub fn check(
    sent: u64,
    reply: Reply,
    socket: &mut Socket,
    receiver: &mut Receiver,
    shown: &str,
) -> Result<(), Error> {
    let warnings = receiver.warnings();
    if reply.affected == sent && warnings == 0 {
        return Ok(());
    }
    let mut kept = Kept::default();
    socket.send(&query(b"SHOW WARNINGS LIMIT 1"))?;
    let first = match receiver.answer(socket, Form::Text, Keep::Named(&mut kept))? {
        Ok(_) => kept.results.into_iter().flat_map(|rows| rows.last).nth(2).flatten(),
        Err(_) => None,
    };
    let first = first.map_or(String::new(), |text| format!(", the first: {text}"));
    Err(Error::WrongAnswer {
        expected: format!("{sent} rows stored without warnings"),
        found: format!("{} rows and {warnings} warnings{first}", reply.affected),
        statement: shown.to_owned(),
    })
}
