//! How clients reach a server in addition to its unix socket: addresses, the file that says who may
//! connect, and a password that is made for this one server.
//!
//! Every user of the machine can connect to an address on it, so a server that clients reach over
//! TCP differs from the others:
//!
//! - Each start has a random password, kept in memory. The server gets a hash that steelyard
//!   computes (scram-sha-256; md5 before version 10), in a session that logs no statements, before
//!   anything is measured. The unix socket stays as it is.
//! - A `pg_hba.conf` in the socket's directory has one line for TCP: steelyard's role, from one
//!   address or network. The file in the data directory is neither used nor changed.
//! - The server listens on 127.0.0.1 and a free port, or on an address that only this machine has a
//!   route to, in a network namespace without other routes.

use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use postgres_protocol::password;
use reference::Password;

use super::control::Control;
use super::initdb::ROLE;
use crate::data::hash;
use crate::process::network::veth::PREFIX;
use crate::process::server::ServerProcess;
use crate::process::site::Site;
use crate::{Endpoint, Error, Host, Server, ServerSpec, Sql, Transport};

/// The number in the socket's name, and the port in a network namespace. Neither collides with
/// anything.
const PORT: u16 = 5432;

/// Bytes of a password, too many to guess.
const PASSWORD: usize = 24;
/// Where randomness comes from.
const RANDOM: &str = "/dev/urandom";
/// Below Linux's usual `ip_local_port_range`, which begins at 32768.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// How many of these are tried.
const TRIES: u32 = 50;

/// How many lines of its log to show if it does not answer.
const LOG_LINES: usize = 12;

/// Settings of the session that sets the password, so that its hash gets into no log and no
/// statistics. Leaves out those that this version doesn't have.
const QUIET: &str = "SELECT set_config(name, value, false) FROM (VALUES \
    ('log_statement', 'none'), ('log_min_duration_statement', '-1'), \
    ('log_min_duration_sample', '-1'), ('log_transaction_sample_rate', '0'), \
    ('log_min_error_statement', 'panic'), ('pg_stat_statements.track', 'none')) \
    AS quiet (name, value) JOIN pg_catalog.pg_settings USING (name)";

/// The ways to one server.
#[derive(Debug)]
pub(super) struct Access {
    /// Its port, which is also part of the socket's name.
    pub(super) port: u16,
    tcp: Option<Tcp>,
}

/// The way over TCP.
#[derive(Debug)]
struct Tcp {
    transport: Transport,
    /// Where the server listens.
    address: Ipv4Addr,
    /// Where its clients may come from, as in pg_hba.conf.
    clients: String,
    /// Keeps the port from others until the server takes it.
    reserved: Option<TcpListener>,
    /// How a client proves that it knows the password; also how the server keeps it.
    method: &'static str,
    password: Password,
    /// The file that says so; empty until it is written.
    hba_file: PathBuf,
}

impl Access {
    /// Chooses addresses, and makes the network namespace if one is needed.
    pub(super) fn make(spec: &ServerSpec<'_>, site: &mut Site<'_>) -> Result<Self, Error> {
        let wanted = |transport| spec.transports.contains(&transport);
        // SCRAM exists since 10.
        let old = spec.installation.major().is_some_and(|major| major < 10);
        let tcp = |transport, address, clients, reserved| {
            Ok::<_, Error>(Tcp {
                transport,
                address,
                clients,
                reserved,
                method: if old { "md5" } else { "scram-sha-256" },
                password: random_password()?,
                hba_file: PathBuf::new(),
            })
        };
        if wanted(Transport::Veth) {
            let [host, server] = site.isolate()?;
            let net = Ipv4Addr::from_bits(host.to_bits() & (u32::MAX << (32 - PREFIX)));
            let tcp = tcp(Transport::Veth, server, format!("{net}/{PREFIX}"), None)?;
            return Ok(Self { port: PORT, tcp: Some(tcp) });
        }
        if wanted(Transport::Loopback) {
            let address = Ipv4Addr::LOCALHOST;
            let no_port = |error| {
                let problem = format!("no port of {address} is free ({error})");
                Error::transport(Transport::Loopback, problem)
            };
            let reserved = reserve(address).map_err(no_port)?;
            let port = reserved.local_addr().map_err(no_port)?.port();
            let clients = format!("{address}/32");
            let tcp = tcp(Transport::Loopback, address, clients, Some(reserved))?;
            return Ok(Self { port, tcp: Some(tcp) });
        }
        Ok(Self { port: PORT, tcp: None })
    }

    /// If TCP is asked for, writes the file that says who may connect, into the directory of the
    /// socket, which only the server's user can enter. Each way to connect has its own line; all
    /// others are refused.
    pub(super) fn write_hba(&mut self, site: &Site<'_>, sockets: &Path) -> Result<(), Error> {
        let Some(Tcp { clients, method, hba_file, .. }) = &mut self.tcp else { return Ok(()) };
        let text = format!(
            "local all all trust\nlocal replication all trust\nhost all {ROLE} {clients} {method}\n"
        );
        *hba_file = sockets.join("pg_hba.conf");
        site.write(hba_file, text.as_bytes())
    }

    /// The value of `listen_addresses`, and further settings.
    pub(super) fn settings(&self) -> (String, Vec<(&'static str, String)>) {
        let Some(tcp) = &self.tcp else { return (String::new(), Vec::new()) };
        let hba_file = tcp.hba_file.to_string_lossy().into_owned();
        (tcp.address.to_string(), vec![("hba_file", hba_file)])
    }

    /// Lets go of the port. The server must be started right after that.
    pub(super) fn release(&mut self) {
        if let Some(tcp) = &mut self.tcp {
            tcp.reserved = None;
        }
    }

    /// Gives the role its password for this server and connects with it. Returns the address, if
    /// TCP is asked for. `control` is a connection through the socket.
    pub(super) fn open(
        &self,
        spec: &ServerSpec<'_>,
        process: &ServerProcess,
        control: &Control,
    ) -> Result<Option<(Transport, Endpoint)>, Error> {
        let Some(tcp) = &self.tcp else { return Ok(None) };
        let mut session = control.another();
        session.run(QUIET)?;
        // The server gets a hash, and never the password itself.
        let password = tcp.password.reveal().as_bytes();
        let hashed = match tcp.method {
            "md5" => password::md5(password, ROLE),
            _ => password::scram_sha_256(password),
        };
        session.run(&format!("ALTER ROLE {ROLE} PASSWORD '{hashed}'")).map_err(without_it)?;
        let endpoint = Endpoint::Postgres(Server {
            host: Host::Tcp(tcp.address.to_string()),
            port: self.port,
            user: ROLE.to_owned(),
            password: Some(tcp.password.clone()),
            database: spec.database(ROLE),
        });
        Control::new(endpoint.clone()).query_i64("SELECT 1").map_err(|error| Error::Start {
            variant: spec.name.to_owned(),
            problem: format!(
                "it does not answer by `{}` ({error}); does a firewall of this machine refuse \
                 connections to {}?",
                tcp.transport, tcp.address
            ),
            log: process.log_tail(LOG_LINES),
        })?;
        Ok(Some((tcp.transport, endpoint)))
    }
}

/// An error without the statement that has the password's hash.
fn without_it(error: Error) -> Error {
    match error {
        Error::Query { message, code, diagnosis, .. } => {
            let sql = format!("ALTER ROLE {ROLE} PASSWORD {}", reference::HIDDEN);
            Error::Query { sql, message, code, diagnosis }
        }
        other => other,
    }
}

/// A password of letters and digits.
fn random_password() -> Result<Password, Error> {
    let bytes = random::<PASSWORD>().map_err(Error::io("read", Path::new(RANDOM)))?;
    Ok(Password::new(hash::hex(&bytes)))
}

fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open(RANDOM)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Takes a port that the kernel does not give to connections: one of these could be taken as soon
/// as it is let go for the server. If there is none, any free one will do.
fn reserve(address: Ipv4Addr) -> std::io::Result<TcpListener> {
    for _ in 0..TRIES {
        let port = PORTS.start + u16::from_le_bytes(random()?) % (PORTS.end - PORTS.start);
        if let Ok(reserved) = TcpListener::bind((address, port)) {
            return Ok(reserved);
        }
    }
    TcpListener::bind((address, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_long_and_differ() {
        let [one, other] = [(); 2].map(|()| random_password().unwrap());
        assert_eq!(one.reveal().len(), 2 * PASSWORD);
        assert_ne!(one, other);
    }

    #[test]
    fn an_error_does_not_show_the_hash() {
        let error = Error::Query {
            sql: "ALTER ROLE steelyard PASSWORD 'SCRAM-SHA-256$4096:x'".to_owned(),
            message: "disk full".to_owned(),
            code: None,
            diagnosis: None,
        };
        let text = without_it(error).to_string();
        assert!(text.contains("disk full") && !text.contains("SCRAM"), "{text}");
    }
}
