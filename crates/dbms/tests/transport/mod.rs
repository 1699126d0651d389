//! Tests of PostgreSQL over TCP: who may connect, and where it listens.

mod leftovers;

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command};

use dbms::{Endpoint, Error, Host, Origin, Pages, Record, Server, ServerSpec, System, Transport};
use nix::net::if_::if_nametoindex;
use postgres::{Client, NoTls};
use reference::Password;

use crate::common::{Place, Variant, processes_in, socket_directory, variant, variants, wait_for};

const VERSIONS: [&str; 3] = ["postgres@13.7", "path:/usr/lib/postgresql/15", "postgres@18.1"];

/// The ways over TCP that this machine has.
fn tcp() -> Vec<Transport> {
    match dbms::check_transports(&"postgres@13.7".parse().unwrap(), &[Transport::Veth]) {
        Ok(()) => vec![Transport::Loopback, Transport::Veth],
        Err(error) => {
            testing::skip(error);
            vec![Transport::Loopback]
        }
    }
}

fn start(
    place: &Place,
    variant: &Variant,
    transports: &[Transport],
    config: &[(&str, &str)],
) -> Result<Box<dyn System>, Error> {
    let own = [("shared_buffers", "16MB"), ("autovacuum", "off")];
    let config =
        own.iter().chain(config).map(|(name, value)| (name.to_string(), value.to_string()));
    let trial = place.trial();
    let spec = place.spec(variant, &trial);
    dbms::start(ServerSpec { transports, config: config.collect(), ..spec })
}

fn connect(
    endpoint: &Endpoint,
    role: &str,
    given: Option<&Password>,
) -> Result<Client, postgres::Error> {
    let Endpoint::Postgres(Server { host: Host::Tcp(name), port, database, .. }) = endpoint else {
        panic!("expected TCP, found {endpoint}")
    };
    let mut config = postgres::Config::new();
    config.host(name).port(*port).user(role).dbname(database);
    if let Some(password) = given {
        config.password(password.reveal());
    }
    config.connect(NoTls)
}

fn password(endpoint: &Endpoint) -> Password {
    let Endpoint::Postgres(Server { password: Some(password), .. }) = endpoint else {
        panic!("no password for {endpoint}")
    };
    password.clone()
}

fn refused(result: Result<Client, postgres::Error>, part: &str) {
    let error = result.err().expect("it is let in");
    let text = format!("{error}: {error:?}");
    assert!(text.contains(part), "{part} is missing in: {text}");
}

/// Address and port of each socket on which a process listens for TCP, as its namespace has them.
fn listens(pid: u32) -> Vec<(Ipv4Addr, u16)> {
    let own: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| Some(fs::read_link(entry.unwrap().path()).ok()?.display().to_string()))
        .collect();
    let sockets = |file: &str| {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{file}")).unwrap_or_default();
        let rows = text
            .lines()
            .skip(1)
            .map(|line| line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>());
        // 0A: it listens. The tenth field is the inode (proc(5)).
        let ours =
            |row: &Vec<String>| row[3] == "0A" && own.contains(&format!("socket:[{}]", row[9]));
        rows.filter(ours).map(|row| row[1].clone()).collect::<Vec<_>>()
    };
    assert!(sockets("tcp6").is_empty());
    let read = |text: String| {
        let (address, port) = text.split_once(':').unwrap();
        let address = u32::from_str_radix(address, 16).unwrap().to_ne_bytes();
        (Ipv4Addr::from(address), u16::from_str_radix(port, 16).unwrap())
    };
    sockets("tcp").into_iter().map(read).collect()
}

fn exists(link: &str) -> bool {
    if_nametoindex(link).is_ok()
}

fn link(record: &Record) -> String {
    record.link.as_ref().expect("a recorded interface").name.clone()
}

/// Runs a program in the network namespace of a process; what it says, if it succeeds.
fn within(pid: u32, words: &[&str]) -> Option<String> {
    let mut command = Command::new("nsenter");
    command.args(["--net", "-t", &pid.to_string(), "--"]).args(words);
    let output = command.output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// A process of somebody else in the namespace of another; ended when dropped.
struct Guest(Child);

impl Guest {
    fn of(pid: u32) -> Guest {
        let mut command = Command::new("nsenter");
        command.args(["--net", "-t", &pid.to_string(), "--", "sleep", "300"]);
        let guest = Guest(command.spawn().unwrap());
        let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        wait_for("its entrance", || namespace(guest.0.id()) == namespace(pid));
        guest
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn each_transport_leads_to_the_server_and_asks_for_its_password() {
    for variant in variants(&VERSIONS) {
        for transport in tcp() {
            let place = Place::new();
            let mut server = start(&place, &variant, &[Transport::Unix, transport], &[]).unwrap();
            let endpoint = server.endpoint_by(transport).unwrap();
            assert_eq!(server.endpoint_by(Transport::Unix).unwrap(), server.endpoint());
            assert_ne!(endpoint, server.endpoint());
            assert!(!socket_directory(server.as_ref()).as_os_str().is_empty());

            let secret = password(&endpoint);
            let mut client = connect(&endpoint, "steelyard", Some(&secret)).unwrap();
            // Its counters work. Versions before 15 collect them over their loopback interface.
            client.batch_execute("create table t as select 1 from generate_series(1, 7)").unwrap();
            let from: Option<String> =
                client.query_one("select host(inet_client_addr())", &[]).unwrap().get(0);
            client.close().unwrap();
            let counted = server.counters(&["t".to_owned()]).unwrap();
            let inserted = counted.rows.iter().find(|it| it.name == "n_tup_ins").unwrap();
            assert!((inserted.value - 7.0).abs() < 0.5, "{inserted:?}");

            refused(connect(&endpoint, "steelyard", None), "password");
            let wrong = Password::new("wrong");
            refused(
                connect(&endpoint, "steelyard", Some(&wrong)),
                "password authentication failed",
            );
            let sql = server.sql().unwrap();
            sql.execute("create role other login superuser").unwrap();
            refused(connect(&endpoint, "other", Some(&secret)), "no pg_hba.conf entry");

            let Endpoint::Postgres(Server { host: Host::Tcp(name), port, .. }) = &endpoint else {
                panic!()
            };
            let address: Ipv4Addr = name.parse().unwrap();
            let pid = server.root_pid().unwrap();
            assert_eq!(listens(pid), [(address, *port)]);
            let from: Ipv4Addr = from.unwrap().parse().unwrap();
            match transport {
                Transport::Veth => {
                    let record = place.ledger.records().unwrap().remove(0);
                    assert!(exists(&link(&record)));
                    assert_eq!(from.to_bits() + 1, address.to_bits());
                    reaches_nothing_else(pid);
                }
                _ => assert_eq!((address, from), (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST)),
            }
            assert!(
                server.endpoint_by(Transport::Loopback).is_ok() || transport == Transport::Veth
            );

            let record = place.ledger.records().unwrap().remove(0);
            let stopped = server.stop().unwrap();
            assert!(!record.link.is_some_and(|link| exists(&link.name)));
            stopped.discard().unwrap();
            place.assert_clean();
        }
    }
}

/// The namespace of a server has no route but that of the pair, and this machine forwards nothing.
fn reaches_nothing_else(pid: u32) {
    let routes = within(pid, &["ip", "route"]).unwrap();
    assert_eq!(routes.lines().count(), 1, "{routes}");
    assert!(routes.starts_with("198.1") && routes.contains("/30 dev eth0"), "{routes}");
    assert_eq!(within(pid, &["ip", "-6", "route", "show", "dev", "eth0"]).unwrap(), "");
    for beyond in ["192.0.2.1", "10.0.0.1", "1.1.1.1"] {
        assert_eq!(within(pid, &["ip", "route", "get", beyond]), None, "{beyond}");
    }
}

/// Runs `ip` and the words of a line, which must succeed.
fn ip(line: &str) {
    let status = Command::new("ip").args(line.split(' ')).status().unwrap();
    assert!(status.success(), "ip {line}");
}

#[test]
fn nobody_beyond_this_machine_gets_through_to_a_transport() {
    if !tcp().contains(&Transport::Veth) {
        return;
    }
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let server = start(&place, &variant, &[Transport::Veth], &[]).unwrap();
    let endpoint = server.endpoint_by(Transport::Veth).unwrap();
    let Endpoint::Postgres(Server { host: Host::Tcp(address), port, .. }) = &endpoint else {
        panic!()
    };
    let link = link(&place.ledger.records().unwrap()[0]);
    // Another machine, for which this one is a router.
    let mut command = Command::new("unshare");
    let other = Guest(command.args(["--net", "--", "sleep", "300"]).spawn().unwrap());
    let (pid, ours) = (other.0.id(), fs::read_link("/proc/self/ns/net").unwrap());
    wait_for("another namespace", || {
        fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|it| it != ours)
    });
    let near = format!("out{pid}");
    ip(&format!("link add {near} type veth peer name out netns {pid}"));
    ip(&format!("address add 203.0.113.1/30 dev {near}"));
    ip(&format!("link set {near} up"));
    for line in ["address add 203.0.113.2/30 dev out", "link set out up"] {
        within(pid, &["ip"].into_iter().chain(line.split(' ')).collect::<Vec<_>>()).unwrap();
    }
    within(pid, &["ip", "route", "add", "default", "via", "203.0.113.1"]).unwrap();
    let forwards = |link: &str| format!("/proc/sys/net/ipv4/conf/{link}/forwarding");
    fs::write(forwards(&near), "1").unwrap();
    let open = format!("timeout 2 bash -c ': < /dev/tcp/{address}/{port}'");
    let connects = || within(pid, &["sh", "-c", &open]).is_some();
    assert!(!connects());
    // With what steelyard leaves out, it would.
    assert_eq!(fs::read_to_string(forwards(&link)).unwrap().trim(), "0");
    fs::write(forwards(&link), "1").unwrap();
    assert!(!connects());
    let host = (address.parse::<Ipv4Addr>().unwrap().to_bits() - 1).into();
    let host = Ipv4Addr::to_string(&host);
    let root = server.root_pid().unwrap();
    within(root, &["ip", "route", "add", "default", "via", &host]).unwrap();
    assert!(connects(), "the test itself has no way to the server");
    drop(server);
    drop(other);
    wait_for("the end of the other machine", || !exists(&near));
    place.assert_clean();
}

#[test]
fn without_tcp_a_transport_changes_nothing() {
    let variant = variant("postgres@13.7").unwrap();
    let own = |transports: &[Transport]| {
        let place = Place::new();
        let mut server = start(&place, &variant, transports, &[]).unwrap();
        for other in [Transport::Loopback, Transport::Veth] {
            let error = server.endpoint_by(other).unwrap_err();
            assert!(matches!(error, Error::Transport { .. }), "{error}");
        }
        assert_eq!(listens(server.root_pid().unwrap()), []);
        let passwords = "select count(rolpassword) from pg_authid";
        assert_eq!(server.sql().unwrap().query_i64(passwords).unwrap(), 0);
        assert!(place.ledger.records().unwrap().remove(0).link.is_none());
        let line = fs::read(format!("/proc/{}/cmdline", server.root_pid().unwrap())).unwrap();
        let mut settings = server.settings().unwrap();
        let path = place.path().display().to_string();
        for setting in &mut settings {
            setting.value = setting.value.replace(&path, "");
        }
        (settings, String::from_utf8(line).unwrap().replace(&path, ""))
    };
    let (settings, line) = own(&[]);
    assert_eq!(own(&[Transport::Unix]), (settings.clone(), line.clone()));
    // Over TCP, only these differ.
    let place = Place::new();
    let mut server = start(&place, &variant, &[Transport::Loopback], &[]).unwrap();
    let path = place.path().display().to_string();
    let differing: Vec<String> = server
        .settings()
        .unwrap()
        .into_iter()
        .filter(|it| {
            !settings
                .iter()
                .any(|other| other.value == it.value.replace(&path, "") && other.name == it.name)
        })
        .map(|it| it.name)
        .collect();
    assert_eq!(differing, ["hba_file", "listen_addresses", "port"]);
}

/// The whole content of a directory.
fn content(directory: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => all.extend(content(&entry.path())),
            kind if kind.is_file() => all.extend(fs::read(entry.path()).unwrap_or_default()),
            _ => {}
        }
    }
    all
}

#[test]
fn over_every_transport_the_password_is_nowhere_to_be_read() {
    // What would log or count every statement.
    let config = [
        ("log_statement", "all"),
        ("log_min_duration_statement", "0"),
        ("log_min_error_statement", "debug5"),
        ("log_connections", "on"),
        ("log_duration", "on"),
    ];
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        let mut server = start(&place, &variant, &[Transport::Loopback], &config).unwrap();
        let endpoint = server.endpoint_by(Transport::Loopback).unwrap();
        let secret = password(&endpoint);
        connect(&endpoint, "steelyard", Some(&secret)).unwrap().close().unwrap();
        let kept = "select rolpassword from pg_authid where rolname = 'steelyard'";
        let kept = server.sql().unwrap().query_rows(kept).unwrap()[0][0].clone().unwrap();
        let old = variant.installation.version.starts_with("9.");
        assert!(kept.starts_with(if old { "md5" } else { "SCRAM-SHA-256$4096:" }), "{kept}");
        let log = server.log_tail(10_000);
        assert!(log.contains("connection authorized"), "{log}");
        for hidden in [&kept, "ALTER ROLE", secret.reveal()] {
            assert!(!log.contains(hidden), "{hidden} is in {log}");
        }
        assert!(!format!("{endpoint} {endpoint:?}").contains(secret.reveal()));
        // A checkpoint writes the hash; the password itself is nowhere.
        server.flush().unwrap();
        let text = content(&place.trial());
        let found = |part: &str| text.windows(part.len()).any(|it| it == part.as_bytes());
        assert!(found(&kept));
        assert!(!found(secret.reveal()));
        for pid in processes_in(place.path()) {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&line).contains(secret.reveal()));
        }
        server.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn each_start_over_a_transport_has_a_password_of_its_own() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    for transport in tcp() {
        let server = start(&place, &variant, &[transport], &[]).unwrap();
        let first = password(&server.endpoint_by(transport).unwrap());
        let loaded = server.stop().unwrap().keep(&false.into()).unwrap();
        let directory = place.path().join("copy");
        let interrupted = false.into();
        let origin = Origin { loaded: &loaded, pages: Pages::Any, interrupted: &interrupted };
        let transports = [transport];
        let spec = ServerSpec { transports: &transports, ..place.spec(&variant, &directory) };
        let (server, _) = dbms::start_on_copy(&spec, &origin).unwrap();
        let endpoint = server.endpoint_by(transport).unwrap();
        let second = password(&endpoint);
        assert_ne!(first, second);
        connect(&endpoint, "steelyard", Some(&second)).unwrap();
        refused(connect(&endpoint, "steelyard", Some(&first)), "password authentication failed");
        // Without TCP, nobody gets in by what the load left.
        server.stop().unwrap().discard().unwrap();
        let (server, _) =
            dbms::start_on_copy(&ServerSpec { transports: &[], ..spec }, &origin).unwrap();
        assert_eq!(listens(server.root_pid().unwrap()), []);
        drop(server);
        loaded.discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn servers_with_a_transport_of_their_own_run_at_once() {
    let variant = variant("postgres@13.7").unwrap();
    for transport in tcp() {
        let place = Place::new();
        let transports = [transport];
        let servers: Vec<_> = std::thread::scope(|scope| {
            let (place, variant, transports) = (&place, &variant, &transports);
            let start = move |i: u32| {
                let directory = place.path().join(format!("trial{i}"));
                let spec = place.spec(variant, &directory);
                dbms::start(ServerSpec { transports, ..spec }).unwrap()
            };
            let threads: Vec<_> = (0..3).map(|i| scope.spawn(move || start(i))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let endpoints: Vec<_> =
            servers.iter().map(|server| server.endpoint_by(transport).unwrap()).collect();
        for (server, endpoint) in servers.iter().zip(&endpoints) {
            let mut client = connect(endpoint, "steelyard", Some(&password(endpoint))).unwrap();
            let directory: String = client.query_one("show data_directory", &[]).unwrap().get(0);
            let data = fs::read_link(format!("/proc/{}/cwd", server.root_pid().unwrap())).unwrap();
            assert_eq!(Path::new(&directory), data);
            // The password of one opens no other.
            for other in endpoints.iter().filter(|other| *other != endpoint) {
                let failed = "password authentication failed";
                refused(connect(other, "steelyard", Some(&password(endpoint))), failed);
            }
        }
        drop(servers);
        place.assert_clean();
    }
}

#[test]
fn what_a_transport_lacks_is_named() {
    if testing::given().is_some() {
        let veth = [Transport::Unix, Transport::Veth];
        let error = dbms::check_transports(&"postgres@13.7".parse().unwrap(), &veth).unwrap_err();
        println!("\nsays {error}");
        return;
    }
    // Permissions can only be given up by those who have them.
    if !tcp().contains(&Transport::Veth) {
        return;
    }
    let place = Place::new();
    // The shell is running by then, and this program is elsewhere.
    let hide = "mount -t tmpfs none /usr/sbin && mount -t tmpfs none /usr/bin && exec \"$@\"";
    let unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let confined = ["setpriv", "--bounding-set=-sys_admin", "--"];
    for (before, part) in [
        (&unprivileged[..], "only root"),
        (&["unshare", "--mount", "--", "sh", "-c", hide, "sh"], "apt-get install iproute2"),
        (&confined, "SYS_ADMIN"),
    ] {
        let output = testing::again(before, place.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let said = text.lines().find(|line| line.starts_with("says ")).unwrap_or(&text);
        assert!(said.contains(part) && said.contains("`veth`"), "{part} is missing in: {said}");
    }
}
