//! A connection that ends when the server asks for the password in clear text.
//!
//! The client library would send the password, and has no setting against that. But it accepts any
//! implementation of TLS. This one changes no byte; it only reads along until the login is over.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use reference::Withheld;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Makes guarded connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard;

/// A guarded connection.
#[derive(Debug)]
pub(super) struct Guarded<S> {
    stream: S,
    login: Login,
}

impl<S: AsyncRead + AsyncWrite + Unpin> MakeTlsConnect<S> for Guard {
    type Stream = Guarded<S>;
    type TlsConnect = Guard;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _: &str) -> io::Result<Guard> {
        Ok(*self)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsConnect<S> for Guard {
    type Stream = Guarded<S>;
    type Error = io::Error;
    type Future = Ready<io::Result<Guarded<S>>>;

    fn connect(self, stream: S) -> Self::Future {
        ready(Ok(Guarded { stream, login: Login::default() }))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Guarded<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        match polled {
            Poll::Ready(Ok(())) => Poll::Ready(self.login.check(&buffer.filled()[before..])),
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// AuthenticationCleartextPassword: its type, its length and its number.
const CLEARTEXT: [u8; 9] = *b"R\0\0\0\x08\0\0\0\x03";
/// The type of ReadyForQuery, with which the login ends.
const READY: u8 = b'Z';
/// A message's type and length.
const HEAD: usize = 5;

/// The part of the login that the server has sent.
#[derive(Debug, Default)]
struct Login {
    /// The first bytes of the current message.
    start: Vec<u8>,
    /// How many bytes of it are still to come, once that is known.
    rest: usize,
    /// True once the login is over.
    over: bool,
}

impl Login {
    /// Follows the server's messages through the bytes that came.
    fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            if self.over {
                break;
            }
            if self.start.len() < CLEARTEXT.len() {
                self.start.push(*byte);
            }
            match self.start.len() {
                HEAD if self.rest == 0 => {
                    let length = self.start.last_chunk::<4>().copied().unwrap_or_default();
                    self.rest = (u32::from_be_bytes(length) as usize).saturating_sub(4);
                }
                HEAD.. => self.rest -= 1,
                _ => continue,
            }
            if self.start == CLEARTEXT {
                return Err(io::Error::other(Withheld::Cleartext));
            }
            if self.rest == 0 {
                self.over = self.start[0] == READY;
                self.start.clear();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    /// The result of a login that arrives in pieces of this size.
    fn login(bytes: &[u8], piece: usize) -> io::Result<()> {
        let mut login = Login::default();
        bytes.chunks(piece).try_for_each(|piece| login.check(piece))
    }

    proptest! {
        #[test]
        fn the_request_is_found_wherever_it_is(
            before in prop::collection::vec(
                ("[A-QS-Y]", prop::collection::vec(any::<u8>(), 0..40)), 0..5),
            piece in 1usize..60,
        ) {
            let mut bytes: Vec<u8> =
                before.iter().flat_map(|(kind, body)| message(kind.as_bytes()[0], body)).collect();
            for number in [0, 5, 10] {
                bytes.extend(message(b'R', &[0, 0, 0, number, 1, 2, 3, 4]));
            }
            prop_assert!(login(&bytes, piece).is_ok());
            let asked = [&bytes[..], &CLEARTEXT].concat();
            prop_assert!(login(&asked, piece).is_err());
            // After the login, rows may have any bytes in them.
            let later = [&bytes[..], &message(b'Z', b"I"), &CLEARTEXT].concat();
            prop_assert!(login(&later, piece).is_ok());
        }

        #[test]
        fn nonsense_is_the_same_in_any_pieces(
            bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1usize..60,
        ) {
            prop_assert_eq!(login(&bytes, piece).is_ok(), login(&bytes, 200).is_ok());
        }
    }
}
