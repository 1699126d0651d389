//! The MySQL client protocol, version 4.1: MySQL from 5.6, MariaDB from 10.1.
//!
//! Statements go out as text (COM_QUERY), or are prepared once and executed with binary parameters
//! (COM_STMT_EXECUTE). Their types are sent only the first time, in scripts each time. Handshake
//! and authentication are `mysql_common`'s; messages, answers and the loop are our own.

mod bulk;
mod connect;
mod message;
mod reply;
mod row;
mod sayings;
mod scripted;
mod session;

pub use connect::Mysql;

/// Length and sequence number of a packet.
const HEADER: usize = 4;
/// The longest payload of one packet; a longer message continues in the next packet.
const LONGEST: usize = 0xff_ffff;

/// Takes an integer whose length is encoded from the front of `bytes`.
#[inline]
fn lenenc(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    let width = match first {
        0..=0xfa => {
            *bytes = rest;
            return Some(u64::from(*first));
        }
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        // A NULL, and an error's first byte.
        _ => return None,
    };
    let mut number = [0; 8];
    number[..width].copy_from_slice(rest.get(..width)?);
    *bytes = &rest[width..];
    Some(u64::from_le_bytes(number))
}

#[cfg(test)]
mod tests;
