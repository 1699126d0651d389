//! A password in a reference stays out of everything that is printed and written.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use dbms::{Cache, Endpoint, Ledger, Server, ServerSpec, ServerUser};

use crate::database::Database;
use crate::own_server::OwnServer;
use crate::place::{Ended, Place};

/// Passwords as people choose them, which no URL should have in it. Each has both parts. A URL with
/// the last one can't be read.
const CARELESS: [&str; 4] =
    ["QZfirst#QZsecond", "QZfirst QZsecond", "QZfirst'\"QZsecond", "QZfirst/?:QZsecond"];
const PARTS: [&str; 2] = ["QZfirst", "QZsecond"];

/// Neither the whole password nor a part of it was printed.
#[track_caller]
fn assert_untold(ended: &Ended, given: &str) {
    for text in [&ended.stdout, &ended.stderr] {
        let told = PARTS.iter().any(|part| text.contains(part));
        assert!(!told, "{given} is told:\n{text}");
    }
}

#[test]
fn no_password_is_told_when_nobody_listens() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // From now on, the port is closed.
    drop(listener);
    let mut given = vec![
        (format!("mysql://me:{}@[::1]:{port}/d", CARELESS[0]), true),
        (format!("postgres://127.0.0.1:{port}/d?user=me&password=QZfirst@QZsecond"), false),
        ("password=QZfirst".to_owned(), false),
    ];
    for password in CARELESS {
        for scheme in ["postgres", "postgresql", "mysql", "mariadb"] {
            let readable = !password.contains('/');
            given.push((format!("{scheme}://me:{password}@127.0.0.1:{port}/d"), readable));
        }
        let quoted = password.replace('\'', "\\'");
        let string = format!("host=127.0.0.1 port={port} user=me password='{quoted}' dbname=d");
        given.push((string, true));
        // Strings that can't be read.
        given.push((format!("mysql://me:{password}@x@127.0.0.1:{port}/d"), false));
        given.push((format!("mysql://me:{password}@127.0.0.1:{port}"), false));
        given.push((format!("postgre://me:{password}@127.0.0.1:{port}/d"), false));
        given.push((format!("mysql://127.0.0.1:{port}/d?user=me&password={password}"), false));
    }
    for (reference, readable) in &given {
        let ended = place.run(&["insert", "-v", reference]);
        let host = if reference.contains("::1") { "[::1]" } else { "127.0.0.1" };
        match readable {
            true => ended.expect(2, &[&format!("{host}:{port}")]),
            false => ended.expect(2, &["does not name a system under test"]),
        }
        assert_untold(&ended, reference);
        let written = place.steelyard(&["run", "insert", "--write-plan", "-v", reference]);
        written.expect(0, &[]);
        assert_untold(&written, reference);
        // Where it does not belong.
        for arguments in [
            &["run", "insert", reference][..],
            &["run", reference],
            &["run", "insert", "-c", reference],
            &["fetch", reference],
        ] {
            let ended = place.steelyard(arguments);
            assert_ne!(ended.code, Some(0), "{arguments:?}");
            assert_untold(&ended, reference);
        }
    }
    // A line that TOML's parser repeats.
    let broken = format!("[variants.a]\ndbms = \"mysql://me:{}@h/d\n", CARELESS[0]);
    let ended = place.run(&[&place.plan(&broken)]);
    ended.expect(2, &["plan.toml"]);
    assert_untold(&ended, &broken);
    fs::remove_file(place.path().join("plan.toml")).unwrap();
    for part in PARTS {
        assert_absent(place.path(), part);
    }
}

/// Runs against servers with such a password, then shows, exports and imports the results, and
/// takes advice on a plan with it.
fn nothing_is_stored(references: &[String], names: &[&str]) {
    let place = Place::new();
    let mut all = vec!["insert", "--blocks", "2", "--steps", "l.i0", "--rows", "2000"];
    let plan = [&["run", "--write-plan", "-v", "postgres@14.3"][..], &all].concat();
    let plan = place.steelyard(&plan).stdout;
    let plan = plan.replace("\"postgres@14.3\"", &format!("{:?}", references[0]));
    assert!(plan.contains(PARTS[0]), "{plan}");
    all.extend(references.iter().flat_map(|reference| ["-v", reference]));
    let ended = place.run(&all);
    ended.expect(0, names);
    assert_untold(&ended, "a reference");
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("plan.toml");
    fs::write(&file, plan).unwrap();
    let file = file.to_str().unwrap();
    let address = format!("file://{}", place.path().join("pushed").display());
    for arguments in [
        &["compare"][..],
        &["compare", "--format", "json"],
        &["list"],
        &["variance"],
        &["history"],
        &["explain", "l.i0"],
        &["advise", file, "--budget", "1h", "-o", "advised.toml"],
        &["advise", file, "--budget", "1h", "--format", "json"],
        &["report", "-o", "results/page.html"],
        &["export", "-o", "exported"],
        &["import", "exported", "--results", "imported"],
        &["push", &address],
        &["pull", &address, "--results", "pulled"],
    ] {
        let mut command = place.command(arguments);
        command.env("STEELYARD_CACHE", place.path().join("cache"));
        let ended = place.spawn(command).end();
        ended.expect(0, &[]);
        assert_untold(&ended, arguments[0]);
    }
    for part in PARTS {
        assert_absent(place.path(), part);
    }
    let stored = Database::of(&place.results());
    assert_eq!(stored.texts("SELECT name FROM variant ORDER BY id"), names);
    for copy in ["imported", "pulled"] {
        assert_eq!(Database::of(&place.path().join(copy)).finished().len(), 2 * names.len());
    }
}

/// A password as careless as a URL allows.
fn in_url(password: &str) -> String {
    password.replace('/', "%2F").replace('?', "%3F")
}

#[test]
fn a_careless_password_of_postgres_is_stored_nowhere() {
    let mut server = OwnServer::start();
    let password = CARELESS.concat();
    let literal = password.replace('\'', "''");
    server
        .client()
        .batch_execute(&format!("CREATE ROLE careless SUPERUSER LOGIN PASSWORD '{literal}'"))
        .unwrap();
    let port = server.port;
    let quoted = password.replace('\'', "\\'");
    nothing_is_stored(
        &[
            format!("postgres://careless:{}@127.0.0.1:{port}/postgres", in_url(&password)),
            format!("host=127.0.0.1 port={port} user=careless password='{quoted}' dbname=postgres"),
        ],
        &["pg-127.0.0.1", "pg-127.0.0.1-2"],
    );
    server.assert_running();
}

#[test]
fn a_careless_password_of_mysql_is_stored_nowhere() {
    let directory = testing::directory();
    let cache = Cache::open_default().unwrap();
    let ledger = Ledger::open(directory.path().join("ledger")).unwrap();
    let installation = dbms::obtain(&"mysql@8.0.31".parse().unwrap(), &cache, &|_| ()).unwrap();
    let (trial, user) = (directory.path().join("trial"), ServerUser::choose(None).unwrap());
    let mut server =
        dbms::start(ServerSpec::new("own", &installation, &trial, user, &cache, &ledger)).unwrap();
    let password = CARELESS.concat();
    let literal = password.replace('\'', "''");
    let sql = server.need_sql().unwrap();
    sql.execute(&format!("CREATE USER careless@localhost IDENTIFIED BY '{literal}'")).unwrap();
    sql.execute("GRANT ALL ON *.* TO careless@localhost").unwrap();
    let Endpoint::Mysql(Server { host: dbms::Host::Socket(socket), database, .. }) =
        server.endpoint()
    else {
        panic!("no socket")
    };
    let socket = socket.display();
    nothing_is_stored(
        &[format!("mysql://careless:{}@/{database}?socket={socket}", in_url(&password))],
        &["my-local"],
    );
    server.stop().unwrap().discard().unwrap();
}

/// No file under `directory` has `secret` in it.
pub fn assert_absent(directory: &Path, secret: &str) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_absent(&path, secret);
            continue;
        }
        let named = path.to_string_lossy().contains(secret);
        let bytes = fs::read(&path).unwrap();
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found && !named, "the password is in {}", path.display());
    }
}
