//! Tables of digests that servers wrote: PostgreSQL 15, MySQL 8.0 and MariaDB 10.11.

use std::ops::ControlFlow;

use proptest::prelude::*;
use trace::{Digest, Format, Options, Scripts, Statement, Summary, Syntax, TraceError};

use crate::common::{fixture, sql};

fn digests(table: &[u8], format: Format) -> Result<(Vec<Digest>, Summary), TraceError> {
    let mut found = Vec::new();
    let summary = trace::read_digests(format, &mut &table[..], &mut |it| found.push(it))?;
    Ok((found, summary))
}

/// Tables of digests, as the servers' own clients wrote them.
const TABLES: [(&str, Format); 3] = [
    ("postgres-15-digests.csv", Format::PostgresDigests),
    ("mysql-8.0-digests.tsv", Format::MysqlDigests),
    ("mariadb-10.11-digests.tsv", Format::MysqlDigests),
];

#[test]
fn digests_of_postgres_have_no_values() {
    let table = fixture("postgres-15-digests.csv");
    let (found, summary) = digests(table.as_bytes(), Format::PostgresDigests).unwrap();
    assert_eq!((found.len(), summary.damaged), (29, 0), "{summary:?}");
    let of = |part: &str| found.iter().position(|it| it.text.contains(part)).unwrap();
    let update = &found[of("UPDATE customers")];
    assert_eq!((update.calls, update.took_us, update.lacks), (48, 2140, None));
    assert!(found[of("insufficient")].lacks.unwrap().contains("hidden"));
    let mut scripts = Scripts::new(Syntax::Dollars);
    (0..).zip(&found).for_each(|(place, digest)| scripts.add_digest(place, digest));
    let script = scripts.of(of("UPDATE customers"), "").unwrap();
    assert_eq!((script.statements, script.blanks), (1, 3));
    assert!(script.text.ends_with("\nUPDATE customers SET city = :v1 || :v2 WHERE id = :v3;\n"));
    let told = scripts.of(of("COMMIT"), "").unwrap_err();
    assert_eq!(told, "a mix sends no `COMMIT`");
}

#[test]
fn statements_inside_of_functions_are_told_apart() {
    let table = b"toplevel,query,calls,total_exec_time\nt,SELECT $1,10,1\nf,SELECT $1,1000000,1\n";
    let (found, _) = digests(table, Format::PostgresDigests).unwrap();
    let found: Vec<(bool, u64)> = found.iter().map(|it| (it.nested, it.calls)).collect();
    assert_eq!(found, [(false, 10), (true, 1_000_000)]);
}

#[test]
fn digests_of_mysql_have_samples_and_those_of_mariadb_do_not() {
    let read = |name: &str| {
        let (found, summary) = digests(fixture(name).as_bytes(), Format::MysqlDigests).unwrap();
        assert_eq!(summary.damaged, 0, "{name}: {summary:?}");
        assert!(found.iter().any(|it| it.failed > 0), "{name}");
        let cut = found.iter().filter(|it| it.lacks.is_some_and(|why| why.contains("is cut")));
        assert_eq!(cut.count(), 1, "{name}");
        found
    };
    let script = |found: &[Digest], part: &str| {
        let mut scripts = Scripts::new(Syntax::Backslashes);
        scripts.add_digest(0, found.iter().find(|it| it.text.contains(part)).unwrap());
        scripts.of(0, "").unwrap()
    };
    let old = read("mariadb-10.11-digests.tsv");
    let found = script(&old, "SELECT COUNT");
    assert!(found.text.contains("SELECT COUNT( * ) , MAX( `price` ) , SUBSTRING( NAME , :v1 )"));
    assert_eq!(found.blanks, 3);
    let new = read("mysql-8.0-digests.tsv");
    let found = script(&new, "SELECT COUNT");
    let whole = "WHERE name <> 'it''s \"a\"' AND name NOT IN ('a\ttab', 'a\nline') GROUP BY s;\n";
    assert!(found.text.ends_with(whole) && found.blanks == 0, "{}", found.text);
}

#[test]
fn digests_are_no_log() {
    for (name, format) in TABLES {
        let table = fixture(name);
        assert_eq!(trace::detect(&table), Some(format), "{name}");
        let each = &mut |_| ControlFlow::Continue(());
        let read = trace::read(format, &Options::default(), &mut table.as_bytes(), each);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("`steelyard trace FILE --scripts DIR`"), "{error}");
    }
}

/// A cut takes the row that it is in, and nothing of those before.
#[test]
fn a_cut_table_has_the_digests_before() {
    for (name, format) in TABLES {
        let table = fixture(name);
        let (whole, _) = digests(table.as_bytes(), format).unwrap();
        for end in (0..table.len()).step_by(23) {
            let Ok((found, _)) = digests(&table.as_bytes()[..end], format) else { continue };
            assert_eq!(found, whole[..found.len()], "{name} at {end}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for (name, format) in TABLES {
            let header = fixture(name).lines().next().unwrap().to_owned() + "\n";
            let _ = digests(&bytes, format);
            let _ = digests(&[header.as_bytes(), &bytes].concat(), format);
        }
    }

    #[test]
    fn no_damage_of_digests_panics(at in 0_usize..20_000, byte in any::<u8>()) {
        for (name, format) in TABLES {
            let mut bytes = fixture(name).into_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = digests(&bytes, format);
        }
    }

    #[test]
    fn no_script_panics(texts in prop::collection::vec(sql(), 1..4)) {
        for syntax in [Syntax::Dollars, Syntax::Backslashes] {
            let mut scripts = Scripts::new(syntax);
            for text in &texts {
                let text = text.clone();
                scripts.add(0, &Statement { text: text.clone(), ..Statement::default() });
                scripts.add_digest(1, &Digest { text, ..Digest::default() });
            }
            let _ = (scripts.of(0, ""), scripts.of(1, "x"));
        }
    }
}
