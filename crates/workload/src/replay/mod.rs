//! A log of statements, sent again.
//!
//! Each session of the log is sent by one connection, in its order. Statements are sent as they
//! were: as text, or with their values apart. One that the server refuses has failed, and its
//! session goes on, as it did when the log was written.

mod order;
mod round;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use plan::{Log, Order, ReplayPlan};
use trace::{Bound, Statement as Logged};

use round::Round;

use crate::class::{Class, Effect};
use crate::phase::{Benchmark, Phase};
use crate::request::{Expect, Request, Statement};
use crate::step::{Action, Alternative, End, Pace, SentLog, Step, Stream, Turn};
use crate::{Dialect, Error, own_data, pgbench};

/// All statements together.
const STATEMENT: Class = Class::new("statement", "statements", "statements", Effect::Changes);

/// As many normal forms, those that took the log's server the longest, are counted separately.
const FORMS: usize = 40;
/// Nothing is due later than this after a step's start, in seconds: ten years.
const LONGEST: f64 = 10.0 * 365.0 * 86_400.0;
/// The shortest time without an end of any statement after which waiting is in vain.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest normal form in results, in characters.
const SHOWN: usize = 200;

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL, [`Error::Script`] if the log cannot be read
/// or is of another system.
pub fn benchmark(plan: &ReplayPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    let sql = dialect.sql("replay")?;
    let log = plan.read().map_err(Error::Script)?;
    let own = sql.syntax();
    if log.format.syntax().is_some_and(|syntax| syntax != own) {
        let (format, system) = (log.format, sql.system());
        let text = format!("the log is {format}, but its statements would go to {system}");
        return Err(Error::Script(format!("{text}; remove the variant")));
    }
    if own != trace::Syntax::Dollars && log.statements.iter().any(|it| it.bound.is_some()) {
        let text = "the log has statements with `values`, which only PostgreSQL accepts";
        return Err(Error::Script(format!("{text}; remove the variant")));
    }
    let setup = match plan.setup_text.clone() {
        Some(text) => {
            let mut all = sql.messages(text).map_err(Error::Script)?;
            all.extend(sql.analyze(&[]));
            Some((ReplayPlan::SETUP, all))
        }
        None => None,
    };
    let mut phases = own_data::phases(&plan.data, plan.init.as_deref(), setup);
    let (streams, tables) = streams(plan, &log, own);
    let clients = u32::try_from(streams.len()).unwrap_or(u32::MAX);
    let mut step = Step::new(ReplayPlan::REPLAY, clients, STATEMENT, streams);
    step.terms.ours = true;
    let statements: u64 = step.streams.iter().map(|stream| stream.turns.len() as u64).sum();
    step.log = Some(SentLog {
        statements,
        tables,
        patience: patience(&log),
        bulk: log.bulk,
        without_values: log.summary.without_values,
        damaged: log.summary.damaged,
        may_differ: (plan.may_fail * statements as f64) as u64,
    });
    phases.push(Phase::Step(step));
    Ok(Benchmark {
        setup: Vec::new(),
        teardown: Vec::new(),
        tables: Vec::new(),
        phases,
        // A connection that takes the place of another may come before that one is gone.
        config: pgbench::room_for(clients.saturating_mul(2)).into_iter().collect(),
    })
}

/// How long no statement may end while a transaction waits for others.
fn patience(log: &Log) -> Duration {
    let longest = log.statements.iter().filter_map(|it| it.took_us).max().unwrap_or(0);
    PATIENCE.max(Duration::from_micros(longest).saturating_mul(10))
}

/// The stream of each connection, and the number of tables in whose order they wait.
fn streams(plan: &ReplayPlan, log: &Log, syntax: trace::Syntax) -> (Vec<Stream>, u32) {
    let mut ranking = trace::Ranking::new(syntax);
    let mut sessions: HashMap<u32, Vec<(&Logged, usize)>> = HashMap::new();
    for statement in &log.statements {
        let form = ranking.add(statement);
        sessions.entry(statement.session).or_default().push((statement, form));
    }
    let connections = log.connections();
    let sent: Vec<Vec<Round<'_>>> = connections
        .iter()
        .map(|numbers| {
            let mut sent: Vec<Round<'_>> = Vec::new();
            for number in numbers {
                let statements = sessions.remove(number).unwrap_or_default();
                for (place, (statement, form)) in statements.into_iter().enumerate() {
                    let connects = place == 0 && !sent.is_empty();
                    sent.push(Round { statement, form, connects });
                }
            }
            sent
        })
        .collect();
    let start = log.statements.iter().map(|it| it.at_us).min().unwrap_or(0);
    let (mix, places) = mix(&ranking);
    let fractions = fractions(&log.statements);
    let streams = sent.iter().zip(0..).map(|(sent, client)| {
        let stream = Stream { mix: mix.clone(), ..Stream::new(client, STATEMENT) };
        sending(stream, sent, (&places, &fractions), plan.speed.map(|speed| (start, speed)))
    });
    let mut streams: Vec<Stream> = streams.collect();
    let tables = match plan.order {
        Order::Tables => {
            order::link(&mut streams, &sent, ranking.forms(), (syntax, log.format.resolution_us()))
        }
        Order::Sessions => 0,
    };
    (streams, tables)
}

/// `stream`, sending what its connection sends; with the start of the log and a speed, at its
/// times.
fn sending(
    mut stream: Stream,
    sent: &[Round<'_>],
    (places, fractions): (&[u32], &Fractions<'_>),
    timed: Option<(i64, f64)>,
) -> Stream {
    let (mut texts, mut order, mut times) = (HashMap::new(), Vec::new(), Vec::new());
    for Round { statement, form, connects } in sent {
        let text = (statement.text.as_str(), statement.bound.as_ref());
        let request = *texts.entry(text).or_insert_with(|| {
            stream.requests.push(request(statement, fractions));
            stream.requests.len() - 1
        });
        order.push(request);
        let (alternative, connects, failed) = (places[*form], *connects, statement.failed);
        stream.turns.push(Turn { alternative, connects, failed });
        if let Some((start, speed)) = timed {
            let after = statement.at_us.saturating_sub(start) as f64 / 1e6;
            times.push(Duration::from_secs_f64((after / speed).clamp(0.0, LONGEST)));
        }
    }
    stream.end = End::Rounds(order.len() as u64);
    stream.actions = vec![Action::InTurn(order)];
    if timed.is_some() {
        times.sort_unstable();
        stream.pace = Pace::At(Arc::from(times));
    }
    stream
}

/// The parameters of each text, from 0, that have values with a fraction somewhere in a log.
type Fractions<'l> = HashMap<&'l str, BTreeSet<u16>>;

fn fractions(statements: &[Logged]) -> Fractions<'_> {
    let mut found = Fractions::new();
    for bound in statements.iter().filter_map(|it| it.bound.as_ref()) {
        for place in bound.fractional() {
            found.entry(&bound.text).or_default().insert(place);
        }
    }
    found
}

/// The statement as it was sent.
fn request(statement: &Logged, fractions: &Fractions<'_>) -> Request {
    match &statement.bound {
        Some(bound) => {
            let own = fractions.get(bound.text.as_str()).into_iter().flatten();
            Request::Bound(Bound { fractions: own.copied().collect(), ..bound.clone() })
        }
        None => Statement::plain(&*statement.text, Expect::Success).into(),
    }
}

/// The normal forms that are counted separately, and the rest; and the place of each form in them.
fn mix(ranking: &trace::Ranking) -> (Vec<Alternative>, Vec<u32>) {
    let alternative = |name: String, shown: String| Alternative {
        class: Class {
            name: name.into(),
            plural: shown.into(),
            unit: STATEMENT.unit,
            effect: Effect::Changes,
        },
        weight: 1,
        actions: Vec::new(),
        adds_to: None,
        finds: None,
    };
    let order = ranking.order();
    let rest = order.len().min(FORMS);
    let mut places = vec![rest as u32; order.len()];
    let mut mix = Vec::new();
    for (place, form) in order.iter().take(FORMS).enumerate() {
        places[*form] = place as u32;
        let shown = ranking.forms()[*form].text.chars().take(SHOWN).collect();
        mix.push(alternative(format!("q{}", place + 1), shown));
    }
    if order.len() > FORMS {
        mix.push(alternative("others".to_owned(), "other statements".to_owned()));
    }
    (mix, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Link;

    fn logged(at_us: i64, session: u32, text: &str, took_us: u64) -> Logged {
        let took_us = Some(took_us);
        Logged { at_us, session, text: text.to_owned(), took_us, ..Logged::default() }
    }

    fn log(statements: Vec<Logged>) -> Log {
        let (format, summary) = (trace::Format::Plain, Default::default());
        Log { format, statements, bulk: 0, summary }
    }

    fn streams_of(statements: Vec<Logged>, speed: Option<f64>) -> Vec<Stream> {
        let plan = ReplayPlan { speed, ..ReplayPlan::default() };
        streams(&plan, &log(statements), trace::Syntax::Dollars).0
    }

    #[test]
    fn each_session_is_sent_in_its_order() {
        let found = streams_of(
            vec![
                logged(1_000, 0, "SELECT 1", 10),
                logged(1_500, 1, "UPDATE t SET a = 5", 900),
                logged(3_000, 0, "SELECT 2", 10),
                logged(9_000, 2, "SELECT 1", 10),
            ],
            Some(0.5),
        );
        assert_eq!(found.len(), 2);
        // Session 2 follows the one that ended last.
        let sent: Vec<String> = found[0].requests.iter().map(Request::to_string).collect();
        assert_eq!(sent, ["SELECT 1", "SELECT 2"], "each text once");
        assert_eq!(found[0].actions, [Action::InTurn(vec![0, 1, 0])]);
        assert_eq!(found[0].end, End::Rounds(3));
        let connects: Vec<bool> = found[0].turns.iter().map(|turn| turn.connects).collect();
        assert_eq!(connects, [false, false, true]);
        let names: Vec<&str> = found[0].mix.iter().map(|it| &*it.class.name).collect();
        assert_eq!(names, ["q1", "q2"]);
        assert_eq!(found[0].mix[0].class.plural, "update t set a = ?", "it took the longest");
        assert!(found[0].turns.iter().all(|turn| turn.alternative == 1));
        let Pace::At(times) = &found[0].pace else { panic!("{:?}", found[0].pace) };
        assert_eq!(times[..], [0, 4, 16].map(Duration::from_millis));
        assert_eq!(streams_of(vec![logged(0, 0, "SELECT 1", 1)], None)[0].pace, Pace::Free);
    }

    #[test]
    fn rare_forms_are_counted_together() {
        let statement = |at: i64| logged(at, 0, &format!("SELECT c{at} FROM t"), 1_000 - at as u64);
        let found = streams_of((0..50).map(statement).collect(), None);
        let mix = &found[0].mix;
        assert_eq!((mix.len(), &*mix[FORMS].class.name), (FORMS + 1, "others"));
        let places: Vec<u32> = found[0].turns.iter().map(|turn| turn.alternative).collect();
        assert_eq!(places[38..42], [38, 39, 40, 40]);
    }

    fn links(statements: &[(i64, u32, &str, u64)], syntax: trace::Syntax) -> Vec<Vec<Link>> {
        let all =
            statements.iter().map(|(at, session, text, took)| logged(*at, *session, text, *took));
        links_of(log(all.collect()), syntax)
    }

    fn links_of(log: Log, syntax: trace::Syntax) -> Vec<Vec<Link>> {
        let (streams, _) = streams(&ReplayPlan::default(), &log, syntax);
        streams.into_iter().map(|stream| stream.links).collect()
    }

    fn waits(round: u64, number: u64) -> Link {
        Link { round, table: 0, number, ends: false }
    }

    fn ends(round: u64, number: u64) -> Link {
        Link { ends: true, ..waits(round, number) }
    }

    #[test]
    fn a_transaction_waits_for_those_that_had_ended() {
        let log = [
            (100, 0, "BEGIN", 1),
            (110, 0, "INSERT INTO t VALUES (1)", 5),
            (112, 1, "SELECT * FROM u", 1),
            (120, 0, "COMMIT", 10),
            (125, 1, "SELECT * FROM public.\"T\"", 1),
            (130, 1, "UPDATE t SET a = 2", 1),
            (131, 1, "SELECT 1 FROM t", 1),
            (132, 0, "SELECT 2 FROM t", 1),
            (140, 0, "SELECT 2 FROM t", 1),
        ];
        let found = links(&log, trace::Syntax::Dollars);
        // The first query of session 1 begins before the commit ends, and the update just when.
        assert_eq!(found[1], [ends(2, 1), waits(3, 1)]);
        assert_eq!(found[0], [ends(2, 0), waits(3, 2)], "once for the same transactions");
    }

    #[test]
    fn times_that_are_too_close_tell_no_order() {
        let at = |us| {
            let statements = vec![
                logged(1_000, 0, "INSERT INTO t VALUES (1)", 500),
                logged(1_200, 1, "SELECT 1", 10),
                logged(us, 1, "SELECT * FROM t", 10),
            ];
            let format = trace::Format::PostgresCsv;
            let found = links_of(Log { format, ..log(statements) }, trace::Syntax::Dollars);
            found[1].len()
        };
        assert_eq!((at(2_500), at(2_501)), (0, 1));
    }

    #[test]
    fn tables_of_one_connection_need_no_order() {
        let log = [
            (1, 0, "INSERT INTO t VALUES (1)", 1),
            (5, 1, "INSERT INTO u VALUES (1)", 1),
            (9, 0, "SELECT * FROM t", 1),
        ];
        assert_eq!(links(&log, trace::Syntax::Dollars), [vec![], vec![]]);
    }

    #[test]
    fn without_autocommit_a_transaction_begins_by_itself() {
        let statements = |autocommit| {
            [
                (1, 0, autocommit, 1),
                (3, 0, "INSERT INTO t VALUES (1)", 1),
                (5, 1, "SELECT * FROM t", 1),
                (7, 0, "COMMIT", 1),
                (9, 1, "SELECT * FROM t", 1),
            ]
        };
        let off = links(&statements("SET autocommit = 0"), trace::Syntax::Backslashes);
        assert_eq!(off, [vec![ends(2, 0)], vec![waits(1, 1)]]);
        let on = links(&statements("SET autocommit = 1"), trace::Syntax::Backslashes);
        assert_eq!(on, [vec![ends(1, 0)], vec![waits(0, 1)]]);
    }

    #[test]
    fn a_session_that_ends_ends_its_transaction() {
        let log = [
            (1, 0, "BEGIN", 1),
            (2, 1, "SELECT 1", 1),
            (3, 0, "INSERT INTO t VALUES (1)", 1),
            (9, 1, "SELECT * FROM t", 1),
            (20, 2, "INSERT INTO t VALUES (2)", 1),
        ];
        let found = links(&log, trace::Syntax::Dollars);
        // Session 2 follows session 1, and what it waits for is known there.
        assert_eq!(found, [vec![ends(1, 0)], vec![waits(1, 1), ends(2, 1)]]);
    }
}
