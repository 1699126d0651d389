//! Rows sent in bulk: COPY FROM STDIN.

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use workload::{Copy, Source};

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
    copy.in_messages(source, &[b'd', 0, 0, 0, 0], CHUNK, |message| {
        let length = (message.len() - 1) as u32;
        message[1..5].copy_from_slice(&length.to_be_bytes());
        socket.send(message)
    })?;
    out.clear();
    frontend::copy_done(&mut out);
    Ok(socket.send(&out)?)
}
