//! Data directories of the user's, made as other servers leave them: trials begin on copies of
//! them, and nothing is written there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use dbms::{Cache, Ledger, Manifest, ServerSpec, ServerUser};
use serde_json::Value;

use crate::database::Database;
use crate::place::{Ended, Place};

/// Directories of queries that fail unless they find three rows, and settings that are usual.
const POSTGRES: [(&str, &str); 2] = [
    ("rows.sql", "SELECT 1 / (CASE count(*) WHEN 3 THEN 1 ELSE 0 END) FROM t"),
    ("usual.sql", "SELECT 1 / (CASE current_setting('work_mem') WHEN '4MB' THEN 1 ELSE 0 END)"),
];
const MYSQL: [(&str, &str); 1] = [(
    "rows.sql",
    "SELECT CASE count(*) WHEN 3 THEN 'three' ELSE exp(9999) END AS rows_found FROM t",
)];

fn queries(place: &Place, files: &[(&str, &str)]) -> String {
    fs::create_dir_all(place.path().join("q")).unwrap();
    files.iter().for_each(|(name, text)| drop(place.file(&format!("q/{name}"), text)));
    place.path().join("q").display().to_string()
}

/// A cluster of a version that nobody of steelyard's may log in to, and whose configuration no
/// server could start with. `state` of its only slot is missing.
fn postgres(place: &Place, version: &str) -> PathBuf {
    let installation =
        dbms::obtain(&version.parse().unwrap(), &Cache::open_default().unwrap(), &|_| ()).unwrap();
    let (user, bin) = (ServerUser::choose(None).unwrap(), installation.bin_dir.unwrap());
    let above = place.path().join(format!("theirs-{}", installation.version));
    fs::create_dir(&above).unwrap();
    std::os::unix::fs::chown(&above, Some(user.uid), Some(user.gid)).unwrap();
    let data = above.join("data");
    let run = |program: &str, arguments: &[&str], sql: &str| {
        let mut command = dbms::command(bin.join(program), &user, &[]).unwrap();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("ERROR"), "{said}");
    };
    let path = data.display().to_string();
    run("initdb", &["-N", "-U", "boss", "--auth=reject", "-D", &path], "");
    let single =
        |database, sql: &str| run("postgres", &["--single", "-j", "-D", &path, database], sql);
    single("postgres", "CREATE DATABASE shop;\n\n");
    let read_only = "ALTER DATABASE shop SET default_transaction_read_only = on;\n\n";
    single("shop", &format!("CREATE TABLE t AS SELECT generate_series(1, 3) a;\n\n{read_only}"));
    fs::write(data.join("postgresql.conf"), "include '/nowhere.conf'\n").unwrap();
    let auto = "work_mem = '77MB'\nshared_preload_libraries = 'nowhere'\n";
    fs::write(data.join("postgresql.auto.conf"), auto).unwrap();
    fs::create_dir(data.join("pg_replslot/lost")).unwrap();
    data
}

/// What is in a directory, byte for byte.
fn content(path: &Path) -> Manifest {
    Manifest::of(path, &AtomicBool::new(false)).unwrap()
}

/// The notes about what was copied, one of each variant's load.
fn copied(place: &Place) -> Vec<String> {
    let database = Database::of(&place.results());
    database.assert_sound();
    database.texts(
        "SELECT n.value FROM step s JOIN trial t ON t.id = s.trial_id, json_each(s.notes) n \
         WHERE t.block = 0 AND n.value LIKE 'copied from %'",
    )
}

/// Runs queries on a data directory.
fn run(place: &Place, directory: &str, variants: &[&str], data: &Path, database: &str) -> Ended {
    let data = data.display().to_string();
    let mut all = vec!["queries", directory, "--restore", &data, "--database", database];
    variants.iter().for_each(|variant| all.extend(["-v", variant]));
    all.extend(["--seconds", "1", "--blocks", "2"]);
    place.run(&all)
}

/// Asserts that no query failed, and that all variants gave the same results.
fn assert_right(place: &Place) {
    let compared = place.steelyard(&["compare", "--format", "json"]);
    compared.expect(0, &[]);
    let document: Value = serde_json::from_str(&compared.stdout).unwrap();
    let warnings = document["warnings"].as_array().unwrap().iter();
    let codes: Vec<_> = warnings.map(|it| it["code"].as_str().unwrap()).collect();
    for code in ["wrong-result", "query-failed", "one-load", "loaded-again"] {
        assert!(!codes.contains(&code), "{codes:?}");
    }
}

#[test]
fn trials_begin_on_copies_of_a_cluster() {
    let place = Place::new();
    let data = postgres(&place, "postgres@13.7");
    let directory = queries(&place, &POSTGRES);
    let before = content(&data);
    let both = ["a=postgres@13.7", "b=postgres@13.7"];
    run(&place, &directory, &both, &data, "shop").expect(0, &["load of a", "load of b", "rows"]);
    assert!(before.differences(&content(&data)).is_empty());
    place.assert_nothing_left();
    assert_right(&place);
    let notes = copied(&place);
    assert_eq!(notes.len(), 2, "{notes:?}");
    let known = format!("copied from {}: system identifier ", data.display());
    assert!(notes[0].starts_with(&known) && notes[0].contains(", checkpoint 0/"), "{notes:?}");

    let refused = |variant: &str, database: &str, words: &str| {
        run(&place, &directory, &[variant], &data, database).expect(2, &[words]);
        assert!(
            before
                .differences(&content(&data))
                .keys()
                .all(|it| it.ends_with("postmaster.pid") || it.as_os_str().is_empty())
        );
        place.assert_nothing_left();
    };
    refused("postgres@14.3", "shop", "it is of PostgreSQL 13, but the variant is 14 (14.3)");
    refused("postgres@13.7", "shops", "it has no database `shops`; correct `database`");
    refused("postgres://me@127.0.0.1/shop", "shop", "is a running server, which has its data");
    refused("rocksdb@7.4.5", "shop", "needs a system that accepts");
    run(&place, &directory, &both[..1], Path::new(&directory), "shop")
        .expect(2, &["is not a data directory of PostgreSQL: PG_VERSION cannot be read"]);
    let path = data.display().to_string();
    let log = "{\"at_us\": 1, \"session\": 1, \"text\": \"SELECT a FROM t\", \"took_us\": 100}\n";
    let log = place.file("log.jsonl", log);
    let arguments = ["replay", &log, "-v", both[0], "--restore", &path, "--database", "shop"];
    place.run(&[&arguments[..], &["--blocks", "1"]].concat()).expect(0, &["load of a", "replay"]);
    assert!(before.differences(&content(&data)).is_empty());
    // A plan that was read before something was written there.
    let written = place.steelyard(&[
        "run",
        "queries",
        &directory,
        "-v",
        both[0],
        "--restore",
        &path,
        "--database",
        "shop",
        "--write-plan",
    ]);
    let plan = place.plan(&written.stdout);
    File::create(data.join("postmaster.pid")).unwrap();
    refused("postgres@13.7", "shop", "it has postmaster.pid: a server runs on it");
    fs::rename(data.join("postmaster.pid"), data.join("notes.txt")).unwrap();
    place.run(&[&plan]).expect(2, &["has changed since the plan was read"]);
}

/// Two versions that can't read each other's data have one each, wherever in the list it is.
#[test]
fn each_version_begins_on_the_cluster_that_it_can_read() {
    let place = Place::new();
    let all = ["postgres@14.3", "postgres@13.7"].map(|version| postgres(&place, version));
    let directory = queries(&place, &POSTGRES);
    let named = all.each_ref().map(|data| data.display().to_string()).join(",");
    let before = all.each_ref().map(|data| content(data));
    run(&place, &directory, &["postgres@13.7", "postgres@14.3"], Path::new(&named), "shop")
        .expect(0, &["load of pg13.7", "load of pg14.3", "rows"]);
    assert_right(&place);
    for (data, before) in all.iter().zip(&before) {
        assert!(before.differences(&content(data)).is_empty());
        let known = format!("copied from {}: ", data.display());
        let notes = copied(&place);
        assert_eq!(notes.iter().filter(|note| note.starts_with(&known)).count(), 1, "{notes:?}");
    }
    run(&place, &directory, &["postgres@15.1"], Path::new(&named), "shop")
        .expect(2, &["it is of PostgreSQL 14, but", "it is of PostgreSQL 13, but"]);
    place.assert_nothing_left();
}

#[test]
fn trials_begin_on_copies_of_data_directories_of_mysql_and_mariadb() {
    let persist = "SET PERSIST sort_buffer_size = 7000000";
    let (mysql, mariadb) = ("mysql@8.0.31", "mariadb@10.11.5");
    for (own, other, also, words) in [
        (mysql, mariadb, persist, "it is of MySQL, as mysql.ibd shows, but the variant is MariaDB"),
        (mariadb, mysql, "DO 1", "it is of MariaDB, as aria_log_control shows"),
    ] {
        copies_begin_trials(own, (other, words), also);
    }
}

/// Queries on a data directory of a system, which is refused for the other one with these words.
fn copies_begin_trials(own: &str, (other, words): (&str, &str), also: &str) {
    let place = Place::new();
    let cache = Cache::open_default().unwrap();
    let ledger = Ledger::open(place.path().join("ledger")).unwrap();
    let installation = dbms::obtain(&own.parse().unwrap(), &cache, &|_| ()).unwrap();
    let (trial, user) = (place.path().join("trial"), ServerUser::choose(None).unwrap());
    let spec = ServerSpec::new("own", &installation, &trial, user, &cache, &ledger);
    let mut server = dbms::start(spec).unwrap();
    for sql in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.t AS SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3",
        also,
        "ALTER USER steelyard@localhost IDENTIFIED BY 'theirs'",
    ] {
        server.need_sql().unwrap().execute(sql).unwrap();
    }
    let directory = queries(&place, &MYSQL);
    run(&place, &directory, &[own], &trial.join("data"), "shop")
        .expect(2, &["a server runs on it, which has locked ibdata1"]);
    let stopped = server.stop().unwrap();
    let data = place.path().join("theirs");
    let copy = Command::new("cp").arg("-a").arg(trial.join("data")).arg(&data).status();
    assert!(copy.unwrap().success());
    stopped.discard().unwrap();
    assert_eq!(data.join("mysqld-auto.cnf").exists(), also.contains("PERSIST"));
    let before = content(&data);
    let variants = ["a", "b"].map(|name| format!("{name}={own}"));
    run(&place, &directory, &variants.each_ref().map(String::as_str), &data, "shop")
        .expect(0, &["load of a", "rows"]);
    assert!(before.differences(&content(&data)).is_empty());
    place.assert_nothing_left();
    assert_right(&place);
    let notes = copied(&place);
    assert!(notes.len() == 2 && notes[0].contains(" files, "), "{notes:?}");
    let database = Database::of(&place.results());
    assert_eq!(database.number("SELECT count(*) FROM setting WHERE value = '7000000'"), 0);

    for (variant, database, words) in
        [(own, "shops", "it has no database `shops`"), (other, "shop", words)]
    {
        run(&place, &directory, &[variant], &data, database).expect(2, &[words]);
        assert!(before.differences(&content(&data)).is_empty());
        place.assert_nothing_left();
    }
}
