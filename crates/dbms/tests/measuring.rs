//! Settings, counters, sizes, settling and attaching, on real servers.

#![allow(clippy::float_cmp)] // counts are exact

use std::os::unix::process::CommandExt;
use std::time::Duration;

use crate::common::{Place, names, socket_directory, variant, variants};
use dbms::{Counter, Ending, Reference, ServerUser, System};

fn figure(changes: &[Counter], view: &str, object: &str, name: &str) -> f64 {
    changes
        .iter()
        .find(|row| row.view == view && row.object == object && row.name == name)
        .unwrap_or_else(|| panic!("no {view} {object} {name}"))
        .value
}

#[test]
fn counters_sizes_and_settling() {
    let versions =
        ["postgres@13.7", "path:/usr/lib/postgresql/15", "postgres@17.7", "postgres@18.1"];
    for variant in variants(&versions) {
        eprintln!("{}", variant.installation.version);
        let place = Place::new();
        let mut server = place.start(&variant, &[("autovacuum", "off")]).unwrap();
        measure(server.as_mut());
        server.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

fn measure(server: &mut dyn System) {
    let version = server.sql().unwrap().query_i64("show server_version_num").unwrap();
    server
        .sql()
        .unwrap()
        .execute("create table pi1 (a bigserial primary key, b int); create index pdc on pi1 (b)")
        .unwrap();
    let mut tables = names(&["pi1", "\"Odd name\""]);
    server.sql().unwrap().execute("create table \"Odd name\" (a int)").unwrap();
    if version >= 110_000 {
        server
            .sql()
            .unwrap()
            .execute(
                "create table parts (a int, b int) partition by range (a); \
                 create table parts1 partition of parts for values from (0) to (100); \
                 create table parts2 partition of parts for values from (100) to (200); \
                 create index parts_b on parts (b)",
            )
            .unwrap();
        tables.push("parts".to_owned());
    }
    count(server, version, &tables);
    settle(server, version, &tables);
    size(server, version, &tables);
}

fn count(server: &mut dyn System, version: i64, tables: &[String]) {
    let before = server.counters(tables).unwrap();
    // From a connection that is closed, as a client's is at the end of a step.
    load(server, version);
    let changes = server.counters(tables).unwrap().difference(&before);
    assert_eq!(figure(&changes, "pg_stat_all_tables", "pi1", "n_tup_ins"), 1000.0);
    assert!(figure(&changes, "pg_stat_all_indexes", "pi1/pdc", "idx_scan") >= 1.0);
    assert!(figure(&changes, "pg_stat_database", "", "tup_inserted") >= 1000.0);
    assert!(figure(&changes, "pg_statio_all_tables", "pi1", "heap_blks_hit") > 0.0);
    if version >= 110_000 {
        assert_eq!(figure(&changes, "pg_stat_all_tables", "parts", "n_tup_ins"), 200.0);
        assert!(figure(&changes, "pg_stat_all_indexes", "parts/parts_b", "idx_scan") >= 2.0);
    }
    for (view, since) in [("pg_stat_wal", 140_000), ("pg_stat_io", 160_000)] {
        assert_eq!(
            before.absent.iter().any(|name| name == view),
            version < since,
            "{view} in {version}"
        );
        assert_eq!(
            changes.iter().any(|row| row.view == view),
            version >= since,
            "{view} in {version}"
        );
    }
    if version >= 140_000 {
        assert!(figure(&changes, "pg_stat_wal", "", "wal_bytes") > 10_000.0);
        assert!(figure(&changes, "pg_stat_wal", "", "wal_write") >= 1.0);
    }
    if version >= 160_000 {
        let object = "client backend/relation/normal";
        let bytes = figure(&changes, "pg_stat_io", object, "extend_bytes");
        // The same in 17, which counts blocks, and in 18: 1000 rows and what indexes them.
        assert!(bytes % 8192.0 == 0.0 && (8.0..80.0).contains(&(bytes / 8192.0)), "{bytes}");
        let wal = |row: &&Counter| row.object.contains("/wal/");
        let views: Vec<&str> = changes.iter().filter(wal).map(|row| row.view.as_str()).collect();
        assert!(views.iter().all(|view| *view == "pg_stat_io/wal"), "{views:?}");
        assert_eq!(views.is_empty(), version < 180_000);
        assert!(figure(&changes, "pg_stat_all_tables", "pi1", "n_tup_newpage_upd") >= 1.0);
    }
    // Known under its present name in all versions.
    assert!(!before.absent.iter().any(|view| view == "pg_stat_checkpointer"));
    let checkpoints = |server: &mut dyn System| {
        let counted = server.counters(&[]).unwrap();
        counted.get("pg_stat_checkpointer", "", "num_requested").unwrap()
    };
    let earlier = checkpoints(server);
    server.flush().unwrap();
    assert!(checkpoints(server) > earlier);
}

fn settle(server: &mut dyn System, version: i64, tables: &[String]) {
    let settled = server.settle(tables).unwrap();
    assert!(settled.seconds > 0.0);
    let text = settled.lines.join("\n");
    let cleanup = if version >= 120_000 {
        ", INDEX_CLEANUP ON) pi1"
    } else {
        "VACUUM (VERBOSE, ANALYZE) pi1"
    };
    assert!(text.contains(cleanup), "{text}");
    assert!(text.contains("vacuuming \"") && text.contains("CHECKPOINT: "), "{text}");
    let after = server.counters(tables).unwrap();
    assert_eq!(after.get("pg_stat_all_tables", "pi1", "vacuum_count"), Some(1.0));
    assert_eq!(after.get("pg_stat_all_tables", "pi1", "n_dead_tup"), Some(0.0));
    if version >= 110_000 {
        assert_eq!(
            server
                .sql()
                .unwrap()
                .query_i64("select sum(reltuples)::int from pg_class where relname like 'parts_'")
                .unwrap(),
            200
        );
    }
    assert!(server.settle(&names(&["nothing"])).unwrap_err().to_string().contains("nothing"));
}

fn size(server: &mut dyn System, version: i64, tables: &[String]) {
    let sizes = server.footprint(tables).unwrap();
    assert_eq!(sizes.iter().map(|size| size.object.as_str()).collect::<Vec<_>>(), tables);
    let size = |sql: &str, server: &mut dyn System| {
        u64::try_from(server.sql().unwrap().query_i64(sql).unwrap()).unwrap()
    };
    assert_eq!(sizes[0].bytes["index"], size("select pg_indexes_size('pi1')", server));
    assert_eq!(sizes[0].bytes["rel"], size("select pg_relation_size('pi1')", server));
    assert_eq!(sizes[0].bytes["total"], size("select pg_total_relation_size('pi1')", server));
    assert!(
        sizes[0].bytes["index"] > 0
            && sizes[0].bytes["total"] > sizes[0].bytes["rel"] + sizes[0].bytes["index"]
    );
    assert_eq!((sizes[1].bytes["rel"], sizes[1].bytes["index"]), (0, 0));
    if version >= 110_000 {
        let leaves = "select pg_total_relation_size('parts1') + pg_total_relation_size('parts2')";
        assert_eq!(sizes[2].bytes["total"], size(leaves, server));
    }
    assert!(server.footprint(&names(&["nothing"])).unwrap_err().to_string().contains("nothing"));
}

fn load(server: &dyn System, version: i64) {
    let mut config = postgres::Config::new();
    config.host_path(socket_directory(server)).user("steelyard").dbname("steelyard");
    let mut client = config.connect(postgres::NoTls).unwrap();
    client.batch_execute("insert into pi1 (b) select g from generate_series(1, 1000) g").unwrap();
    // The first page is full, so the row moves to another.
    client.batch_execute("update pi1 set b = 0 where a = 1").unwrap();
    client.batch_execute("set enable_seqscan = off; select * from pi1 where b = 500").unwrap();
    if version >= 110_000 {
        client
            .batch_execute("insert into parts select g, g from generate_series(0, 199) g")
            .unwrap();
        client.batch_execute("select * from parts where b = 50").unwrap();
    }
    // What another session reads just before is not what is counted, even if the last reading of
    // this server was long ago (PGSTAT_STAT_INTERVAL).
    std::thread::sleep(Duration::from_millis(600));
    let mut other = config.connect(postgres::NoTls).unwrap();
    other.batch_execute("select sum(n_tup_ins) from pg_stat_all_tables").unwrap();
    client.close().unwrap();
}

#[test]
fn settings_show_what_was_configured() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let file = place.path().join("cx.conf");
    std::fs::write(
        &file,
        "work_mem = 8MB\nmaintenance_work_mem = 80MB # comment\nlisten_addresses = '*'\n",
    )
    .unwrap();
    let trial = place.trial();
    let config = [
        ("work_mem".to_owned(), "5MB".to_owned()),
        ("search_path".to_owned(), "\"it's\", public".to_owned()),
        ("random_page_cost".to_owned(), "1.1".to_owned()),
    ];
    let mut server = dbms::start(dbms::ServerSpec {
        config: config.into(),
        config_file: Some(file.clone()),
        initdb: vec!["--wal-segsize=4".to_owned()],
        ..place.spec(&variant, &trial)
    })
    .unwrap();
    let settings = server.settings().unwrap();
    let value =
        |name: &str| settings.iter().find(|setting| setting.name == name).map(|s| s.value.as_str());
    assert_eq!(value("work_mem"), Some("5MB"), "the plan wins over the file");
    assert_eq!(value("maintenance_work_mem"), Some("80MB"));
    assert_eq!(value("listen_addresses"), Some(""), "steelyard wins over the file");
    assert_eq!(value("search_path"), Some("\"it's\", public"));
    assert_eq!(value("random_page_cost"), Some("1.1"));
    assert_eq!(value("wal_segment_size"), Some("4MB"));
    assert_eq!(value("application_name"), None, "that is the connection's, not the server's");
    let work_mem = settings.iter().find(|setting| setting.name == "work_mem").unwrap();
    assert_eq!(work_mem.unit.as_deref(), Some("kB"));
    assert_eq!(work_mem.boot_value.as_deref(), Some("4096"));
    assert_eq!(work_mem.source, "configuration file");
    drop(server);
    std::fs::remove_file(file).unwrap();
    place.assert_clean();
}

#[test]
fn a_running_server_is_measured_and_left_running() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut started = place.start(&variant, &[]).unwrap();
    started.sql().unwrap().execute("create role me login superuser password 's3cret'").unwrap();
    started.sql().unwrap().execute("create table t as select generate_series(1, 10) a").unwrap();
    let host = socket_directory(started.as_ref()).to_str().unwrap().replace('/', "%2F");
    let reference: Reference = format!("postgres://me:s3cret@{host}/steelyard").parse().unwrap();

    let installation = dbms::obtain(&reference, &place.cache, &|_| ()).unwrap();
    assert_eq!(installation.version, "13.7");
    assert_eq!(installation.bin_dir, None);
    assert!(!format!("{installation:?}").contains("s3cret"));
    let mut attached = dbms::attach(&reference).unwrap();
    assert!(!format!("{} {:?}", attached.endpoint(), attached.endpoint()).contains("s3cret"));
    assert_eq!(attached.root_pid(), started.root_pid());
    assert!(attached.alive());
    assert_eq!(attached.sql().unwrap().query_i64("select count(*) from t").unwrap(), 10);
    assert_eq!(attached.footprint(&names(&["t"])).unwrap()[0].bytes["rel"], 8192);
    assert_eq!(attached.log_tail(10), "");

    // A role without permission: the checkpoint is skipped, and this is reported.
    started
        .sql()
        .unwrap()
        .execute("create role plain login; alter table t owner to plain")
        .unwrap();
    let plain: Reference = format!("postgres://plain@{host}/steelyard").parse().unwrap();
    let settled = dbms::attach(&plain).unwrap().settle(&names(&["t"])).unwrap();
    assert!(settled.lines.iter().any(|line| line.contains("skipped")), "{settled:?}");

    let stopped = attached.stop().unwrap();
    assert_eq!(stopped.ending, Ending::LeftRunning);
    stopped.discard().unwrap();
    assert!(started.alive());

    // The control connection comes back after it was cut.
    let mut attached = dbms::attach(&reference).unwrap();
    let pid = attached.sql().unwrap().query_i64("select pg_backend_pid()").unwrap();
    started.sql().unwrap().query_rows(&format!("select pg_terminate_backend({pid})")).unwrap();
    assert_eq!(attached.sql().unwrap().query_i64("select 1").unwrap(), 1);

    // A server that goes away is noticed.
    started.stop().unwrap().discard().unwrap();
    assert!(!attached.alive());
    assert!(attached.died().is_some());
    let error = dbms::attach(&reference).err().unwrap().to_string();
    assert!(error.contains("cannot connect") && !error.contains("s3cret"), "{error}");
    place.assert_clean();
}

#[test]
fn a_running_server_on_loopback_is_found_by_its_lock_file() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let stopped = place.start(&variant, &[]).unwrap().stop().unwrap();
    // Somebody else's server: the same data, started by hand, listening on TCP.
    let data = place.trial().join("data");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command =
        std::process::Command::new(variant.installation.bin_dir.as_ref().unwrap().join("postgres"));
    command.arg("-D").arg(&data).args([
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        "unix_socket_directories=",
    ]);
    command.args(["-p", &port.to_string()]).current_dir("/").stderr(std::process::Stdio::null());
    let user = ServerUser::choose(None).unwrap();
    if nix::unistd::geteuid().is_root() {
        command.uid(user.uid).gid(user.gid);
    }
    let mut child = command.spawn().unwrap();

    let reference: Reference =
        format!("postgres://steelyard@127.0.0.1:{port}/steelyard").parse().unwrap();
    let begin = std::time::Instant::now();
    let attached = loop {
        match dbms::attach(&reference) {
            Err(_) if begin.elapsed().as_secs() < 120 => {
                std::thread::sleep(Duration::from_millis(50))
            }
            other => break other,
        }
    };
    let pid = attached.as_ref().ok().and_then(|server| server.root_pid());
    let ending = attached.and_then(System::stop).map(|stopped| stopped.ending.clone());
    let running = child.try_wait().unwrap().is_none();
    dbms::ProcessId::of(child.id()).unwrap().signal(libc::SIGINT).unwrap();
    child.wait().unwrap();
    assert_eq!(pid, Some(child.id()));
    assert_eq!(ending.unwrap(), Ending::LeftRunning);
    assert!(running);
    drop(stopped);
    place.assert_clean();
}
