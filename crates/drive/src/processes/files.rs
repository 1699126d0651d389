//! Messages over a unix socket that bring an open file along.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// Sends bytes, and with the first of them a file.
///
/// # Errors
/// If the other end is gone.
pub fn send_with(mut stream: &UnixStream, bytes: &[u8], file: BorrowedFd<'_>) -> io::Result<()> {
    let files = [file.as_raw_fd()];
    let along = [ControlMessage::ScmRights(&files)];
    let (parts, none) = ([IoSlice::new(bytes)], MsgFlags::MSG_NOSIGNAL);
    let sent = sendmsg::<()>(stream.as_raw_fd(), &parts, &along, none, None)?;
    stream.write_all(&bytes[sent..])
}

/// Reads from a socket, and keeps the file that came along.
pub struct Incoming<'a> {
    stream: &'a UnixStream,
    file: Option<OwnedFd>,
}

impl<'a> Incoming<'a> {
    /// The reader of this socket.
    pub fn new(stream: &'a UnixStream) -> Incoming<'a> {
        Incoming { stream, file: None }
    }

    /// The last file that came along with what was read so far.
    pub fn take_file(&mut self) -> Option<OwnedFd> {
        self.file.take()
    }
}

impl Read for Incoming<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut room = nix::cmsg_space!(RawFd);
        let mut parts = [IoSliceMut::new(buffer)];
        let cloexec = MsgFlags::MSG_CMSG_CLOEXEC;
        let got = recvmsg::<()>(self.stream.as_raw_fd(), &mut parts, Some(&mut room), cloexec)?;
        for along in got.cmsgs()? {
            if let ControlMessageOwned::ScmRights(files) = along {
                for file in files {
                    // SAFETY: the kernel has just opened it for us.
                    self.file = Some(unsafe { OwnedFd::from_raw_fd(file) });
                }
            }
        }
        Ok(got.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufRead, BufReader, Seek};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_file_comes_with_its_line() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"shared").unwrap();
        send_with(&here, b"one\n", file.as_fd()).unwrap();
        (&here).write_all(b"two\n").unwrap();
        drop(here);
        let mut reader = BufReader::new(Incoming::new(&there));
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "one\n");
        let mut file = File::from(reader.get_mut().take_file().unwrap());
        file.rewind().unwrap();
        assert_eq!(io::read_to_string(&file).unwrap(), "shared");
        assert!(reader.get_mut().take_file().is_none());
        line.clear();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, "two\n");
        assert_eq!(reader.read_line(&mut line).unwrap(), 0, "the other end is gone");
    }
}
