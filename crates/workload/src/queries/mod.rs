//! A directory of queries, each a step.

use std::time::Duration;

use plan::{Compared, QueriesPlan, Query};

use crate::class::Class;
use crate::kinds::{Catalogue, Kind, State};
use crate::phase::{Benchmark, Phase};
use crate::request::{Expect, Request, Statement};
use crate::step::{Action, Asks, End, Step, Stream};
use crate::{Dialect, Error, Sql, own_data, pgbench};

/// With so many values, at most, the answers of a query are compared.
const ASKED: usize = 20;

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL, [`Error::Script`] for a mistake in a file, or
/// a query without a text for this system.
pub fn benchmark(plan: &QueriesPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    let sql = dialect.sql("queries")?;
    let queries = plan.queries(sql.system(), sql.syntax()).map_err(Error::Script)?;
    let setup = setup(plan, sql)?;
    let has_setup = plan.loads().contains(&QueriesPlan::SETUP);
    let setup = has_setup.then_some((QueriesPlan::SETUP, setup));
    let mut phases = own_data::phases(&plan.data, plan.init.as_deref(), setup);
    phases.extend(queries.iter().map(|query| Phase::Step(step(plan, query, sql))));
    let cold = sql.starts_cold().iter().filter(|_| plan.cold);
    let cold = cold.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Ok(Benchmark {
        setup: Vec::new(),
        teardown: Vec::new(),
        tables: Vec::new(),
        phases,
        config: pgbench::room_for(plan.clients).into_iter().chain(cold).collect(),
    })
}

/// The statements that make the data, and statistics of it unless the last of them do. Where a
/// program loads it, there is at least one.
fn setup(plan: &QueriesPlan, sql: Sql) -> Result<Vec<String>, Error> {
    let mut all = plan.setup(sql.system(), sql.syntax()).map_err(Error::Script)?;
    let loaded = plan.init.is_some();
    if all.last().map_or(loaded, |text| !analyzes(text)) {
        let tables: Vec<&str> = all.iter().filter_map(|text| table(text)).collect();
        all.extend(sql.analyze(&tables));
    }
    if loaded && all.is_empty() {
        // MySQL and MariaDB make statistics by themselves while they load.
        all.push("DO 1".to_owned());
    }
    Ok(all)
}

/// True if a statement makes statistics: `ANALYZE …`, `VACUUM (ANALYZE) …`.
fn analyzes(statement: &str) -> bool {
    let statement = statement.trim_start().to_ascii_lowercase();
    statement.starts_with("analyze")
        || statement.starts_with("vacuum") && statement.contains("analyze")
}

/// The table that a statement creates.
fn table(statement: &str) -> Option<&str> {
    let mut words = statement.split_whitespace();
    let mut is = |wanted: &str| words.next().is_some_and(|word| word.eq_ignore_ascii_case(wanted));
    if !is("create") || !is("table") {
        return None;
    }
    let mut name = words.next()?;
    if name.eq_ignore_ascii_case("if") {
        name = words.nth(2)?;
    }
    let name = name.split('(').next().unwrap_or_default();
    (!name.is_empty()).then_some(name)
}

/// The step of a query.
pub(crate) fn step(plan: &QueriesPlan, query: &Query, sql: Sql) -> Step {
    let opening = sql.only_read(plan.timeout);
    let requests: Vec<Request> = query.texts.iter().map(|text| plain(text)).collect();
    let stream = |client: u32| {
        let all = requests.len();
        // Each client begins with other values.
        let first = client as usize * all / plan.clients.max(1) as usize;
        let action = match all {
            1 => Action::Run(0),
            _ => Action::InTurn((0..all).map(|place| (first + place) % all).collect()),
        };
        Stream {
            requests: requests.clone(),
            actions: vec![action],
            opening: opening.clone(),
            ..Stream::new(client, Class::QUERY)
        }
    };
    let streams = (0..plan.clients).map(stream).collect();
    let mut step = Step::new(&query.name, plan.clients, Class::QUERY, streams);
    step.key = plan.key(&query.name);
    step.seconds = (!plan.cold).then_some(f64::from(plan.seconds));
    step.any_order = true;
    if plan.cold {
        step.streams.iter_mut().for_each(|stream| stream.end = End::Rounds(1));
        step.terms.cold = true;
    }
    let asked = query.texts.iter().take(ASKED).cloned().collect();
    step.asks = Some(asks(asked, plan.compared, plan.timeout, sql));
    step
}

/// These queries, asked before a step.
pub(crate) fn asks(
    queries: Vec<String>,
    compared: Compared,
    timeout: Option<Duration>,
    sql: Sql,
) -> Asks {
    let exactly = sql.print_exactly().map(str::to_owned);
    Asks { opening: sql.only_read(timeout).into_iter().chain(exactly).collect(), queries, compared }
}

fn plain(text: &str) -> Request {
    Statement::plain(text, Expect::Success).into()
}

/// The requests that `steelyard count` counts: each query, with its first values.
///
/// # Errors
/// As [`benchmark`].
pub fn catalogue(plan: &QueriesPlan, dialect: Dialect) -> Result<Catalogue, Error> {
    let sql = dialect.sql("queries")?;
    let queries = plan.queries(sql.system(), sql.syntax()).map_err(Error::Script)?;
    if plan.init.is_some() {
        let text = "`init`: counting can't load data with a program; make it in setup.sql";
        return Err(Error::Script(text.to_owned()));
    }
    if !plan.data.restore.is_empty() {
        let text = "`restore`: counting can't copy a data directory; make the data in setup.sql";
        return Err(Error::Script(text.to_owned()));
    }
    Ok(Catalogue {
        setup: setup(plan, sql)?,
        load: Vec::new(),
        index: Vec::new(),
        cells: 0,
        refresh: None,
        config: Default::default(),
        kinds: queries.into_iter().filter_map(kind).collect(),
    })
}

/// The query with its first values.
pub(crate) fn kind(query: Query) -> Option<Kind> {
    Some(Kind {
        request: plain(query.texts.first()?),
        name: query.name,
        class: Class::QUERY,
        rows: 0,
        state: State::Loaded,
        reads_only: true,
        adds: None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use plan::{Compared, WorkloadPlan};

    use super::*;
    use crate::StorageEngine;

    fn plan(files: &[(&str, &str)]) -> QueriesPlan {
        let text = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let texts: BTreeMap<String, String> = files.iter().map(text).collect();
        QueriesPlan { texts, clients: 2, ..QueriesPlan::default() }
    }

    const FILES: [(&str, &str); 4] = [
        ("setup.sql", "CREATE TABLE IF NOT EXISTS t(a int); create table u (b int);"),
        ("a.sql", "SELECT {x}"),
        ("a.csv", "x\n1\n2\n3\n4\n"),
        ("b.mariadb.sql", "SELECT 'maria'"),
    ];

    #[test]
    fn a_program_loads_and_statistics_follow() {
        let mut plan = plan(&[("a.sql", "SELECT 1")]);
        plan.init = Some("psql -f 'a b'".to_owned());
        for (dbms, last) in [("postgres", "VACUUM ANALYZE"), ("mysql", "DO 1")] {
            let dialect = Dialect::of(dbms, 15, None);
            let benchmark = benchmark(&plan, dialect).unwrap();
            let [Phase::Program(init), Phase::Step(setup), Phase::Settle { .. }, _] =
                &benchmark.phases[..]
            else {
                panic!("{benchmark:?}")
            };
            assert_eq!(init.command, ["psql", "-f", "a b"]);
            assert!(init.step.terms.ours && setup.terms.ours);
            assert_eq!(setup.streams[0].requests[0].to_string(), last);
            assert!(catalogue(&plan, dialect).unwrap_err().to_string().contains("setup.sql"));
        }
    }

    #[test]
    fn a_data_directory_has_its_statistics() {
        let mut plan = plan(&[("a.sql", "SELECT 1")]);
        let of = |text: &str| Some(text.to_owned());
        plan.data.restore.extend(of("/data"));
        plan.data.database = of("shop");
        let dialect = Dialect::postgres(15);
        let phases = benchmark(&plan, dialect).unwrap().phases;
        assert!(matches!(&phases[..], [Phase::Settle { .. }, Phase::Step(_)]), "{phases:?}");
        assert!(catalogue(&plan, dialect).unwrap_err().to_string().contains("`restore`: counting"));
        plan.texts.insert("setup.sql".to_owned(), "CREATE INDEX i ON t (a)".to_owned());
        let phases = benchmark(&plan, dialect).unwrap().phases;
        let [Phase::Settle { .. }, Phase::Step(_), Phase::Settle { .. }, Phase::Step(_)] =
            &phases[..]
        else {
            panic!("{phases:?}")
        };
    }

    #[test]
    fn steps_are_those_of_the_plan() {
        let mut plan = plan(&FILES);
        plan.texts.insert("b.sql".to_owned(), "SELECT 'all'".to_owned());
        plan.timeout = Some(Duration::from_secs(30));
        let planned = WorkloadPlan::Queries(plan.clone()).sequences().remove(0).steps;
        for (dbms, opening, b, last) in [
            ("postgres", "SET statement_timeout = 30000", "SELECT 'all'", "VACUUM ANALYZE"),
            (
                "mysql",
                "SET @steelyard = 0 /*!50708 , SESSION max_execution_time = 30000 */",
                "SELECT 'all'",
                "ANALYZE TABLE t, u",
            ),
            (
                "mariadb",
                "SET SESSION max_statement_time = 30",
                "SELECT 'maria'",
                "ANALYZE TABLE t, u",
            ),
        ] {
            let benchmark = benchmark(&plan, Dialect::of(dbms, 11, None)).unwrap();
            let steps: Vec<_> = benchmark.phases.iter().filter_map(Phase::step).collect();
            assert_eq!(
                steps.iter().map(|step| &step.key).collect::<Vec<_>>(),
                planned.iter().map(|step| &step.key).collect::<Vec<_>>(),
            );
            assert!(steps.iter().zip(&planned).all(|(step, it)| step.is_timed() == it.timed));
            let setup = &steps[0].streams[0].requests;
            assert_eq!(setup.last().map(Request::to_string).as_deref(), Some(last));
            assert!(steps[0].terms.ours && steps[0].asks.is_none());
            let (one, two) = (&steps[1].streams[0], &steps[1].streams[1]);
            assert_eq!(one.opening[1], opening);
            assert_eq!(one.actions, [Action::InTurn(vec![0, 1, 2, 3])]);
            assert_eq!(two.actions, [Action::InTurn(vec![2, 3, 0, 1])]);
            assert_eq!(steps[2].streams[0].requests[0].to_string(), b);
            let asks = steps[1].asks.as_ref().unwrap();
            assert_eq!((asks.queries.len(), asks.compared), (4, Compared::Rows));
            assert_eq!(asks.opening.len(), if dbms == "postgres" { 3 } else { 2 });
        }
    }

    #[test]
    fn each_client_runs_a_cold_query_once() {
        let plan = QueriesPlan { cold: true, ..plan(&FILES) };
        let planned = WorkloadPlan::Queries(plan.clone()).sequences().remove(0).steps;
        let benchmark = benchmark(&plan, Dialect::of("mariadb", 11, None)).unwrap();
        let steps: Vec<_> = benchmark.phases.iter().filter_map(Phase::step).collect();
        let (setup, a) = (steps[0], steps[1]);
        assert!(!setup.terms.cold && a.terms.cold && !a.is_timed());
        assert_eq!(
            (&a.key, a.key.label(true)),
            (&planned[1].key, "a{dop=2, cache=cold}".to_owned())
        );
        assert_eq!(a.streams[0].actions, [Action::InTurn(vec![0, 1, 2, 3])]);
        let ends: Vec<_> = a.streams.iter().map(|stream| stream.end.clone()).collect();
        assert_eq!((ends, planned[1].timed), (vec![End::Rounds(1); 2], false));
        assert_eq!(benchmark.config["innodb_buffer_pool_load_at_startup"], "OFF");
    }

    #[test]
    fn only_statements_that_analyze_do() {
        for text in ["ANALYZE", "analyze table t", "VACUUM (ANALYZE) t", " vacuum analyze"] {
            assert!(analyzes(text), "{text}");
        }
        for text in ["CREATE INDEX i ON analyzed (a)", "INSERT INTO t VALUES ('analyze')", "VACUUM"]
        {
            assert!(!analyzes(text), "{text}");
        }
    }

    #[test]
    fn a_system_without_a_text_is_refused() {
        let plan = plan(&FILES);
        let error = benchmark(&plan, Dialect::mysql(StorageEngine::InnoDb)).unwrap_err();
        assert!(error.to_string().contains("the query `b` has no text for mysql"), "{error}");
        assert!(benchmark(&plan, Dialect::of("mariadb", 11, None)).is_ok());
        let error = benchmark(&plan, Dialect::KeyValue).unwrap_err();
        assert_eq!(error, Error::Unfit { workload: "queries", needs: "SQL" });
    }

    #[test]
    fn each_query_is_a_kind_with_its_first_values() {
        let catalogue = catalogue(&plan(&FILES), Dialect::of("mariadb", 11, None)).unwrap();
        let kinds: Vec<_> =
            catalogue.kinds.iter().map(|it| (it.name.as_str(), it.request.to_string())).collect();
        assert_eq!(kinds, [("a", "SELECT 1".to_owned()), ("b", "SELECT 'maria'".to_owned())]);
        assert_eq!(catalogue.setup.len(), 3);
    }
}
