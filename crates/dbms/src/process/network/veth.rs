//! A network namespace for one server, joined with this machine's by a pair of interfaces.
//!
//! The namespace has no name: it exists as long as a process is in it. The kernel then removes it,
//! and the pair with it, even if steelyard was killed. Its only routes are those of the pair and of
//! its own loopback interface, so it reaches nothing but this machine.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;

use super::ip;
use super::link::Link;
use super::route::{self, LENGTH, Net};
use crate::data::paths;
use crate::process::ledger::Remains;
use crate::{Error, Ledger, Transport};

/// Bits of a pair's network, in the notation of addresses: `/30`.
pub(crate) const PREFIX: u8 = LENGTH;

/// The server's end of the pair.
const INSIDE: &str = "eth0";

/// A namespace in which a server can be started.
#[derive(Debug)]
pub(crate) struct Network {
    /// Keeps the namespace until a process is in it.
    pub(crate) namespace: File,
    /// This machine's address, from which clients come.
    pub(crate) host: Ipv4Addr,
    /// The server's address.
    pub(crate) server: Ipv4Addr,
}

impl Network {
    /// Makes one, for the entry of `remains`, which records it first.
    pub(crate) fn make(ledger: &Ledger, remains: &mut Remains) -> Result<Self, Error> {
        check_user()?;
        let id = remains.0.as_ref().map_or("", |entry| &entry.record().id);
        let (link, seed) = Link::of(id);
        let namespace = namespace()?;
        remains.update(|record| record.link = Some(link.clone()))?;
        // Until the pair is up, others don't see that its network is in use.
        let _lock = paths::lock(&ledger.path().join("network.lock"))?;
        let [host, server] = route::free(&routes()?, seed).ok_or_else(|| {
            let problem = "this machine has routes to all of 198.18.0.0/15, where its addresses \
                           would be; remove those that nothing uses (`ip route`)";
            Error::transport(Transport::Veth, problem)
        })?;
        let (name, address) = (&link.name, &link.address);
        let inside = format!("/proc/{}/fd/{}", std::process::id(), namespace.as_raw_fd());
        let add = format!(
            "link add name {name} address {address} type veth peer name {INSIDE} netns {inside}"
        );
        let up = |name: &str, address: Ipv4Addr| {
            // Otherwise, both ends would look for neighbors and routers by IPv6.
            let quiet = Path::new("/proc/sys/net/ipv6").exists();
            let quiet = quiet.then(|| format!("link set dev {name} addrgenmode none"));
            let up = [
                format!("address add {address}/{LENGTH} dev {name}"),
                format!("link set dev {name} up"),
            ];
            quiet.into_iter().chain(up).collect::<Vec<_>>()
        };
        let what = "connecting a network namespace";
        ip::run(None, what, &[vec![add], up(name, host)].concat())?;
        // Servers also use their own loopback interface: PostgreSQL before 15 for its statistics.
        let lo = vec!["link set dev lo up".to_owned()];
        ip::run(Some(&namespace), what, &[lo, up(INSIDE, server)].concat())?;
        forward_nothing(name)?;
        Ok(Self { namespace, host, server })
    }
}

/// Checks that a pair of interfaces can be made here, in a namespace that ends at once.
pub(crate) fn check() -> Result<(), Error> {
    check_user()?;
    ip::program()?;
    let trial = namespace()?;
    let pair = "link add name trial0 type veth peer name trial1".to_owned();
    ip::run(Some(&trial), "making a pair of interfaces", &[pair]).map(drop).map_err(|error| {
        let problem = format!(
            "no pair of interfaces can be made ({error}); load the module with `modprobe veth`, or \
             in a container, give it the capabilities NET_ADMIN and SYS_ADMIN"
        );
        Error::transport(Transport::Veth, problem)
    })
}

fn check_user() -> Result<(), Error> {
    if geteuid().is_root() {
        return Ok(());
    }
    let problem = "only root can make network namespaces; run as root, or choose other transports";
    Err(Error::transport(Transport::Veth, problem))
}

/// A new namespace, which ends when the file is closed and no process is in it.
fn namespace() -> Result<File, Error> {
    // Only the thread that calls unshare(2) is in it.
    let made = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        File::open("/proc/thread-self/ns/net")
    });
    let made = made.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    made.map_err(|error| {
        let problem = format!(
            "no network namespace can be made ({error}); in a container, give it the capability \
             SYS_ADMIN, or choose other transports"
        );
        Error::transport(Transport::Veth, problem)
    })
}

/// The networks in all routing tables of this machine.
fn routes() -> Result<Vec<Net>, Error> {
    #[derive(serde::Deserialize)]
    struct Route {
        dst: String,
    }
    let text = ip::run(None, "reading routes", &["-4 -json route show table all".to_owned()])?;
    let routes: Vec<Route> = serde_json::from_str(&text)
        .map_err(|error| Error::answer("routes from `ip -json`", error))?;
    Ok(routes.iter().filter_map(|route| Net::read(&route.dst)).collect())
}

/// Packets from the server's end go to this machine and no further, even if this machine is a
/// router.
fn forward_nothing(name: &str) -> Result<(), Error> {
    let file = format!("/proc/sys/net/ipv4/conf/{name}/forwarding");
    let file = Path::new(&file);
    let now = fs::read_to_string(file).map_err(Error::io("read", file))?;
    if now.trim() == "0" { Ok(()) } else { fs::write(file, "0").map_err(Error::io("write", file)) }
}
