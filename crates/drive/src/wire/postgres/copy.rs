//! Rows sent in bulk: COPY FROM STDIN.

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use workload::{Content, Copy, Source};

use super::reply::{Keep, Receiver};
use crate::error::Error;
use crate::wire::socket::Socket;

/// Bytes of a CopyData message: the server's reads are of 8 KB, its socket buffers larger.
const CHUNK: usize = 64 * 1024;

/// Begins the COPY and sends its rows. Its answer is outstanding.
pub fn send_rows(
    copy: &Copy,
    source: &Source<'_>,
    socket: &mut Socket,
    receiver: &mut Receiver,
    shown: &str,
) -> Result<(), Error> {
    let mut out = BytesMut::new();
    frontend::query(&copy.statement(), &mut out)?;
    socket.send(&out)?;
    let begun = receiver.answer(socket, Keep::Nothing)?;
    begun.map_err(|error| Error::Server { error: Box::new(error), statement: shown.to_owned() })?;
    let mut message = head();
    match &copy.content {
        Content::Numbered(rows) => {
            for number in rows.numbers(source) {
                rows.row(number, &mut message);
                send(CHUNK, &mut message, socket)?;
            }
        }
        Content::Generated(rows) => {
            for line in workload::lines(rows) {
                message.extend_from_slice(line.as_bytes());
                message.push(b'\n');
                send(CHUNK, &mut message, socket)?;
            }
        }
    }
    send(0, &mut message, socket)?;
    out.clear();
    frontend::copy_done(&mut out);
    Ok(socket.send(&out)?)
}

/// The beginning of a CopyData message.
fn head() -> Vec<u8> {
    let mut message = Vec::with_capacity(CHUNK + 1024);
    message.extend_from_slice(&[b'd', 0, 0, 0, 0]);
    message
}

/// Sends a CopyData message that has at least so many bytes, and leaves the beginning of another.
fn send(least: usize, message: &mut Vec<u8>, socket: &mut Socket) -> Result<(), Error> {
    if message.len() < least {
        return Ok(());
    }
    let length = (message.len() - 1) as u32;
    message[1..5].copy_from_slice(&length.to_be_bytes());
    socket.send(message)?;
    message.truncate(5);
    Ok(())
}
