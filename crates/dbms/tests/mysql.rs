//! Tests of MySQL and MariaDB only: options, engines, sockets.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::{Place, Variant, variant, variants, with_myrocks};
use dbms::{Config, Durability, Endpoint, Error, Host, Server, ServerSpec, ServerUser, System};

/// A version for each kind of start: with statements for the system tables, or with an option of
/// the server.
const VERSIONS: [&str; 3] = ["mariadb@10.11.5", "mysql@5.6.24", "mysql@8.0.31"];

/// A server that needs little memory.
fn start(
    place: &Place,
    variant: &Variant,
    config: &[(&str, &str)],
) -> Result<Box<dyn System>, Error> {
    start_in(place, variant, config, &place.trial())
}

fn start_in(
    place: &Place,
    variant: &Variant,
    config: &[(&str, &str)],
    directory: &Path,
) -> Result<Box<dyn System>, Error> {
    let small = [("innodb_buffer_pool_size", "16MB"), ("innodb_log_file_size", "4MB")];
    let settings = small.iter().chain(config);
    let config = settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    dbms::start(ServerSpec { config, ..place.spec(variant, directory) })
}

fn socket(server: &dyn System) -> std::path::PathBuf {
    match server.endpoint() {
        Endpoint::Mysql(Server { host: Host::Socket(file), .. }) => file,
        other => panic!("expected a socket, found {other}"),
    }
}

fn shown(server: &mut dyn System, variable: &str) -> Option<String> {
    let sql = format!("show global variables like '{variable}'");
    server.sql().unwrap().query_rows(&sql).unwrap().first().and_then(|row| row[1].clone())
}

#[test]
fn only_its_own_socket_leads_to_it() {
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        let mut server = start(&place, &variant, &[]).unwrap();
        let directory = fs::metadata(socket(server.as_ref()).parent().unwrap()).unwrap();
        assert_eq!(directory.mode() & 0o777, 0o700);
        assert_eq!(directory.uid(), ServerUser::choose(None).unwrap().uid);
        let pid = server.root_pid().unwrap();
        // The sockets that it listens on: one, and none of TCP.
        let mut inodes = Vec::new();
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten() {
            let link = fs::read_link(entry.path()).unwrap_or_default();
            let link = link.to_string_lossy().into_owned();
            inodes.extend(
                link.strip_prefix("socket:[").map(|it| it.trim_end_matches(']').to_owned()),
            );
        }
        let of = |file: &str, state: &str, field: usize| -> usize {
            let text = fs::read_to_string(format!("/proc/{pid}/net/{file}")).unwrap_or_default();
            let lines = text.lines().filter(|line| {
                let words: Vec<&str> = line.split_ascii_whitespace().collect();
                words.get(3) == Some(&state)
                    && words.get(field).is_some_and(|it| inodes.iter().any(|own| own == it))
            });
            lines.count()
        };
        assert_eq!((of("tcp", "0A", 9), of("tcp6", "0A", 9)), (0, 0), "{}", variant.name);
        // SO_ACCEPTCON, as in /proc/net/unix.
        assert_eq!(of("unix", "00010000", 6), 1, "{}", variant.name);
        assert_eq!(shown(server.as_mut(), "skip_networking").as_deref(), Some("ON"));
        // The binary log is off everywhere, and durability is what each version has by default.
        assert_eq!(shown(server.as_mut(), "log_bin").as_deref(), Some("OFF"), "{}", variant.name);
        assert_eq!(shown(server.as_mut(), "innodb_buffer_pool_size").as_deref(), Some("16777216"));
        let version = server.sql().unwrap().query_rows("select version()").unwrap();
        assert!(version[0][0].as_ref().unwrap().starts_with(&variant.installation.version));
        server.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn a_path_too_long_for_a_socket_falls_back_to_a_short_one() {
    let variant = variant(VERSIONS[0]).unwrap();
    let place = Place::new();
    let long = place.path().join("x".repeat(120));
    let mut server = start_in(&place, &variant, &[], &long).unwrap();
    let socket = socket(server.as_ref());
    assert!(socket.starts_with("/tmp"), "{}", socket.display());
    assert_eq!(server.sql().unwrap().query_i64("select 1").unwrap(), 1);
    server.stop().unwrap().discard().unwrap();
    assert!(!socket.parent().unwrap().exists());
    place.assert_clean();
}

fn message(result: Result<Box<dyn System>, Error>) -> String {
    match result {
        Ok(_) => panic!("the server must not start"),
        Err(error) => {
            assert!(matches!(error, Error::Rejected { .. }), "{error}");
            error.to_string()
        }
    }
}

#[test]
fn settings_are_never_dropped_or_adjusted() {
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        let unknown = message(start(&place, &variant, &[("innodb_banana", "1")]));
        for part in [&variant.name, "innodb_banana = 1", "unknown variable"] {
            assert!(unknown.contains(part), "{part} is missing in: {unknown}");
        }
        let small = message(start(&place, &variant, &[("innodb_buffer_pool_size", "1")]));
        assert!(small.contains("innodb_buffer_pool_size = 1"), "{small}");
        assert!(small.contains("adjusted to"), "{small}");
        let none = message(start(&place, &variant, &[("max-connections", "0")]));
        assert!(none.contains("max-connections = 0") && none.contains("adjusted"), "{none}");
        // Only found out when the server really starts.
        let late = message(start(&place, &variant, &[("innodb_flush_method", "banana")]));
        assert!(late.contains("banana"), "{late}");
        place.assert_clean();
    }
}

#[test]
fn settings_come_from_the_file_and_the_plan() {
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        let (trial, file) = (place.trial(), place.path().join("my.cnf"));
        fs::write(
            &file,
            "[client]\nsocket=/x\n[mysqld]\nmax_connections=33\nsort-buffer-size = 77k\n",
        )
        .unwrap();
        let config = [("max-connections", "44"), ("log_bin", "mylog")];
        let config = config.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let spec =
            ServerSpec { config, config_file: Some(file.clone()), ..place.spec(&variant, &trial) };
        let mut server = dbms::start(spec).unwrap();
        assert_eq!(shown(server.as_mut(), "max_connections").as_deref(), Some("44"));
        assert_eq!(shown(server.as_mut(), "sort_buffer_size").as_deref(), Some("78848"));
        assert_eq!(shown(server.as_mut(), "log_bin").as_deref(), Some("ON"));
        let settings = server.settings().unwrap();
        let named = |name: &str| settings.iter().any(|it| it.name == name);
        assert!(named("max_connections") && named("sort_buffer_size"), "{settings:?}");
        server.stop().unwrap().discard().unwrap();
        fs::remove_file(file).unwrap();
        place.assert_clean();
    }
}

#[test]
fn settings_that_steelyard_chooses_are_refused() {
    let variant = variant(VERSIONS[0]).unwrap();
    let place = Place::new();
    for setting in ["Socket", "skip-networking", "datadir", "plugin_dir", "loose_innodb_x", "user"]
    {
        let error = start(&place, &variant, &[(setting, "1")]).err().unwrap();
        assert!(matches!(error, Error::Reserved { .. }), "{error}");
        assert!(error.to_string().contains(setting), "{error}");
    }
    let (trial, file) = (place.trial(), place.path().join("my.cnf"));
    for line in ["port=1", "skip-networking=0", "!include /x", "!includedir /x", "loose-x=1"] {
        fs::write(&file, format!("[mysqld]\nmax_connections=20\n{line}\n")).unwrap();
        let config_file = Some(file.clone());
        let error = dbms::start(ServerSpec { config_file, ..place.spec(&variant, &trial) });
        let error = error.err().unwrap();
        assert!(matches!(error, Error::Reserved { .. }), "{error}");
        assert!(error.to_string().contains("my.cnf"), "{error}");
    }
    let initdb = vec!["--x".to_owned()];
    let error = dbms::start(ServerSpec { initdb, ..place.spec(&variant, &trial) }).err().unwrap();
    assert!(error.to_string().contains("initdb"), "{error}");
    fs::remove_file(file).unwrap();
    place.assert_clean();
}

#[test]
fn the_size_of_pages_is_that_of_a_fresh_directory() {
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        let mut server = start(&place, &variant, &[("innodb_page_size", "4k")]).unwrap();
        assert_eq!(shown(server.as_mut(), "innodb_page_size").as_deref(), Some("4096"));
        server.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn engines_are_loaded_or_refused() {
    let place = Place::new();
    let trial = place.trial();
    let refused = |text: &str, engine: &str| {
        let variant = variant(text).unwrap();
        let engine = Some(engine);
        let error =
            dbms::start(ServerSpec { engine, ..place.spec(&variant, &trial) }).err().unwrap();
        assert!(error.is_request(), "{error}");
        error.to_string()
    };
    assert!(refused("mysql@8.0.31", "myisam").contains("innodb, myrocks"));
    assert!(refused("postgres@13.7", "innodb").contains("remove `engine`"));
    assert!(refused("mariadb@10.11.5", "myrocks").contains("mariadb-plugin-rocksdb"));
    place.assert_clean();

    let Some(variant) = with_myrocks() else { return };
    for (engine, name) in [("innodb", "InnoDB"), ("myrocks", "ROCKSDB")] {
        for level in [Durability::Full, Durability::Relaxed] {
            let config = dbms::durability(&variant.installation, Some(engine), level).unwrap();
            let spec = ServerSpec { config, engine: Some(engine), ..place.spec(&variant, &trial) };
            let mut server = dbms::start(spec).unwrap();
            let sql = server.sql().unwrap();
            sql.execute("create table t (a int primary key); insert into t values (1)").unwrap();
            let rows = sql
                .query_rows("select engine from information_schema.tables where table_name = 't'");
            assert_eq!(rows.unwrap()[0][0].as_deref(), Some(name));
            let stopped = server.stop().unwrap();
            assert_eq!(stopped.ending, dbms::Ending::Graceful);
            stopped.discard().unwrap();
            place.assert_clean();
        }
    }
}

#[test]
fn all_versions_take_the_settings_of_a_durability() {
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        for (level, flush) in [(Durability::Full, "1"), (Durability::Relaxed, "2")] {
            let trial = place.trial();
            let config = dbms::durability(&variant.installation, None, level).unwrap();
            let mut server =
                dbms::start(ServerSpec { config, ..place.spec(&variant, &trial) }).unwrap();
            let set = shown(server.as_mut(), "innodb_flush_log_at_trx_commit");
            assert_eq!(set.as_deref(), Some(flush), "{}", variant.name);
            server.stop().unwrap().discard().unwrap();
        }
        place.assert_clean();
    }
}

/// Settings that go by the clock, for one of this many servers that share the load.
fn by_the_clock(variant: &Variant, engine: Option<&str>, parts: u32) -> Config {
    let timers = dbms::timers(&variant.installation, engine).unwrap();
    timers.iter().map(|timer| (timer.name.to_owned(), timer.for_parts(parts))).collect()
}

#[test]
fn all_versions_take_the_settings_of_servers_that_are_frozen() {
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        for parts in [1, 2, 50] {
            let (trial, expected) = (place.trial(), by_the_clock(&variant, None, parts));
            // Those of a server that has the load alone are built in.
            let config = if parts == 1 { Config::new() } else { expected.clone() };
            let mut server =
                dbms::start(ServerSpec { config, ..place.spec(&variant, &trial) }).unwrap();
            for (name, value) in expected {
                assert_eq!(shown(server.as_mut(), &name), Some(value), "{name}: {}", variant.name);
            }
            server.stop().unwrap().discard().unwrap();
        }
        place.assert_clean();
    }
    let Some(variant) = with_myrocks() else { return };
    let (place, engine) = (Place::new(), Some("myrocks"));
    let (trial, config) = (place.trial(), by_the_clock(&variant, engine, 2));
    let spec = ServerSpec { config, engine, ..place.spec(&variant, &trial) };
    let mut server = dbms::start(spec).unwrap();
    let rate = shown(server.as_mut(), "rocksdb_delayed_write_rate");
    assert_eq!(rate.as_deref(), Some("8388608"));
    server.stop().unwrap().discard().unwrap();
    place.assert_clean();
}

#[test]
fn a_running_server_is_described_and_left_running() {
    for variant in variants(&VERSIONS) {
        let place = Place::new();
        let mut server = start(&place, &variant, &[]).unwrap();
        let reference: dbms::Reference = server.endpoint().to_string().parse().unwrap();
        let found = dbms::obtain(&reference, &place.cache, &|_| ()).unwrap();
        let expected = &variant.installation;
        assert_eq!((&found.dbms, &found.version), (&expected.dbms, &expected.version));
        assert!(!found.is_ours());
        let mut attached = dbms::attach(&reference).unwrap();
        assert_eq!(attached.root_pid(), server.root_pid());
        assert_eq!(attached.data_directory(), server.data_directory());
        assert!(attached.alive() && !attached.owned() && attached.interrupter().is_none());
        assert_eq!(attached.stop().unwrap().ending, dbms::Ending::LeftRunning);
        assert!(server.alive());
        server.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}
