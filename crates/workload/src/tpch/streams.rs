//! The power test and the throughput test (clauses 5.3.3 and 5.3.4): all queries and the refresh
//! functions, alone and in several streams at the same time.

use std::ops::RangeInclusive;

use plan::{Compared, POWER, THROUGHPUT, TpchPlan};

use super::{queries, refresh};
use crate::class::{Class, Effect};
use crate::dialect::Sql;
use crate::queries::asks;
use crate::request::{Expect, Request, Statement};
use crate::step::{Action, Alternative, Asks, End, Step, Stream};

/// What the power test counts.
const EXECUTION: Class =
    Class::new("power", "queries and refresh functions", "executions", Effect::Changes);
/// What the throughput test counts besides queries.
const REFRESH: Class = Class::new("refresh", "refresh functions", "executions", Effect::Changes);

/// The order of the queries in the stream of each number (appendix A); that of the power test is
/// number 0.
#[rustfmt::skip] // A table.
const ORDERS: [[u32; 22]; 41] = [
    [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12],
    [21, 3, 18, 5, 11, 7, 6, 20, 17, 12, 16, 15, 13, 10, 2, 8, 14, 19, 9, 22, 1, 4],
    [6, 17, 14, 16, 19, 10, 9, 2, 15, 8, 5, 22, 12, 7, 13, 18, 1, 4, 20, 3, 11, 21],
    [8, 5, 4, 6, 17, 7, 1, 18, 22, 14, 9, 10, 15, 11, 20, 2, 21, 19, 13, 16, 12, 3],
    [5, 21, 14, 19, 15, 17, 12, 6, 4, 9, 8, 16, 11, 2, 10, 18, 1, 13, 7, 22, 3, 20],
    [21, 15, 4, 6, 7, 16, 19, 18, 14, 22, 11, 13, 3, 1, 2, 5, 8, 20, 12, 17, 10, 9],
    [10, 3, 15, 13, 6, 8, 9, 7, 4, 11, 22, 18, 12, 1, 5, 16, 2, 14, 19, 20, 17, 21],
    [18, 8, 20, 21, 2, 4, 22, 17, 1, 11, 9, 19, 3, 13, 5, 7, 10, 16, 6, 14, 15, 12],
    [19, 1, 15, 17, 5, 8, 9, 12, 14, 7, 4, 3, 20, 16, 6, 22, 10, 13, 2, 21, 18, 11],
    [8, 13, 2, 20, 17, 3, 6, 21, 18, 11, 19, 10, 15, 4, 22, 1, 7, 12, 9, 14, 5, 16],
    [6, 15, 18, 17, 12, 1, 7, 2, 22, 13, 21, 10, 14, 9, 3, 16, 20, 19, 11, 4, 8, 5],
    [15, 14, 18, 17, 10, 20, 16, 11, 1, 8, 4, 22, 5, 12, 3, 9, 21, 2, 13, 6, 19, 7],
    [1, 7, 16, 17, 18, 22, 12, 6, 8, 9, 11, 4, 2, 5, 20, 21, 13, 10, 19, 3, 14, 15],
    [21, 17, 7, 3, 1, 10, 12, 22, 9, 16, 6, 11, 2, 4, 5, 14, 8, 20, 13, 18, 15, 19],
    [2, 9, 5, 4, 18, 1, 20, 15, 16, 17, 7, 21, 13, 14, 19, 8, 22, 11, 10, 3, 12, 6],
    [16, 9, 17, 8, 14, 11, 10, 12, 6, 21, 7, 3, 15, 5, 22, 20, 1, 13, 19, 2, 4, 18],
    [1, 3, 6, 5, 2, 16, 14, 22, 17, 20, 4, 9, 10, 11, 15, 8, 12, 19, 18, 13, 7, 21],
    [3, 16, 5, 11, 21, 9, 2, 15, 10, 18, 17, 7, 8, 19, 14, 13, 1, 4, 22, 20, 6, 12],
    [14, 4, 13, 5, 21, 11, 8, 6, 3, 17, 2, 20, 1, 19, 10, 9, 12, 18, 15, 7, 22, 16],
    [4, 12, 22, 14, 5, 15, 16, 2, 8, 10, 17, 9, 21, 7, 3, 6, 13, 18, 11, 20, 19, 1],
    [16, 15, 14, 13, 4, 22, 18, 19, 7, 1, 12, 17, 5, 10, 20, 3, 9, 21, 11, 2, 6, 8],
    [20, 14, 21, 12, 15, 17, 4, 19, 13, 10, 11, 1, 16, 5, 18, 7, 8, 22, 9, 6, 3, 2],
    [16, 14, 13, 2, 21, 10, 11, 4, 1, 22, 18, 12, 19, 5, 7, 8, 6, 3, 15, 20, 9, 17],
    [18, 15, 9, 14, 12, 2, 8, 11, 22, 21, 16, 1, 6, 17, 5, 10, 19, 4, 20, 13, 3, 7],
    [7, 3, 10, 14, 13, 21, 18, 6, 20, 4, 9, 8, 22, 15, 2, 1, 5, 12, 19, 17, 11, 16],
    [18, 1, 13, 7, 16, 10, 14, 2, 19, 5, 21, 11, 22, 15, 8, 17, 20, 3, 4, 12, 6, 9],
    [13, 2, 22, 5, 11, 21, 20, 14, 7, 10, 4, 9, 19, 18, 6, 3, 1, 8, 15, 12, 17, 16],
    [14, 17, 21, 8, 2, 9, 6, 4, 5, 13, 22, 7, 15, 3, 1, 18, 16, 11, 10, 12, 20, 19],
    [10, 22, 1, 12, 13, 18, 21, 20, 2, 14, 16, 7, 15, 3, 4, 17, 5, 19, 6, 8, 9, 11],
    [10, 8, 9, 18, 12, 6, 1, 5, 20, 11, 17, 22, 16, 3, 13, 2, 15, 21, 14, 19, 7, 4],
    [7, 17, 22, 5, 3, 10, 13, 18, 9, 1, 14, 15, 21, 19, 16, 12, 8, 6, 11, 20, 4, 2],
    [2, 9, 21, 3, 4, 7, 1, 11, 16, 5, 20, 19, 18, 8, 17, 13, 10, 12, 15, 6, 14, 22],
    [15, 12, 8, 4, 22, 13, 16, 17, 18, 3, 7, 5, 6, 1, 9, 11, 21, 10, 14, 20, 19, 2],
    [15, 16, 2, 11, 17, 7, 5, 14, 20, 4, 21, 3, 10, 9, 12, 8, 13, 6, 18, 19, 22, 1],
    [1, 13, 11, 3, 4, 21, 6, 14, 15, 22, 18, 9, 7, 5, 10, 20, 12, 16, 17, 8, 19, 2],
    [14, 17, 22, 20, 8, 16, 5, 10, 1, 13, 2, 21, 12, 9, 4, 18, 3, 7, 6, 19, 15, 11],
    [9, 17, 7, 4, 5, 13, 21, 18, 11, 3, 22, 1, 6, 16, 20, 14, 15, 10, 8, 2, 12, 19],
    [13, 14, 5, 22, 19, 11, 9, 6, 18, 15, 8, 10, 7, 4, 17, 16, 3, 1, 12, 2, 21, 20],
    [20, 5, 4, 14, 11, 1, 6, 16, 8, 22, 7, 3, 2, 12, 21, 19, 17, 13, 10, 15, 18, 9],
    [3, 7, 14, 15, 6, 5, 21, 20, 18, 10, 4, 16, 19, 1, 13, 9, 8, 17, 11, 12, 22, 2],
    [13, 15, 17, 1, 22, 11, 3, 4, 7, 20, 14, 21, 9, 8, 2, 18, 16, 6, 10, 12, 5, 19],
];

/// New orders come, the queries run one after another, and old orders go.
pub(super) fn power(plan: &TpchPlan, sql: Sql) -> Step {
    let mut rounds = Rounds::default();
    rounds.refresh(plan, "rf1", 0);
    rounds.queries(plan, 0);
    rounds.refresh(plan, "rf2", 0);
    let stream = rounds.stream(0, EXECUTION, sql.limit(plan.timeout).into_iter().collect());
    let asked = asked(plan, sql, 0..=0);
    Step { asks: Some(asked), ..Step::new(POWER, 1, EXECUTION, vec![stream]) }
}

/// Several streams of queries, and one in which orders come and go as often as there are streams.
/// The step ends with the last of them.
pub(super) fn throughput(plan: &TpchPlan, sql: Sql) -> Step {
    let count = plan.streams();
    let query = |number: u32| {
        let mut rounds = Rounds::default();
        rounds.queries(plan, number);
        rounds.stream(number - 1, Class::QUERY, sql.only_read(plan.timeout))
    };
    let mut refreshes = Rounds::default();
    for set in 1..=count {
        refreshes.refresh(plan, "rf1", set);
        refreshes.refresh(plan, "rf2", set);
    }
    let refreshes = refreshes.stream(count, REFRESH, sql.limit(plan.timeout).into_iter().collect());
    let streams = (1..=count).map(query).chain([refreshes]).collect();
    let asked = asked(plan, sql, 1..=count);
    Step { asks: Some(asked), ..Step::new(THROUGHPUT, count, Class::QUERY, streams) }
}

/// The queries of these streams, asked before the step, those of each by their numbers.
fn asked(plan: &TpchPlan, sql: Sql, streams: RangeInclusive<u32>) -> Asks {
    let text = |stream, query| queries::text(query, plan.scale, stream);
    let all = streams.flat_map(|stream| (1..=22).map(move |query| text(stream, query)));
    asks(all.collect(), Compared::Rows, plan.timeout, sql)
}

/// The rounds of a stream, one after another.
#[derive(Default)]
struct Rounds {
    requests: Vec<Request>,
    all: Vec<Alternative>,
}

impl Rounds {
    fn push(&mut self, name: &str, effect: Effect, requests: Vec<Request>) {
        let first = self.requests.len();
        self.requests.extend(requests);
        let class = Class {
            name: name.to_owned().into(),
            plural: format!("executions of {name}").into(),
            unit: EXECUTION.unit,
            effect,
        };
        let actions = (first..self.requests.len()).map(Action::Run).collect();
        self.all.push(Alternative { class, weight: 1, actions, adds_to: None, finds: None });
    }

    /// The queries of the stream of this number, with values of its own.
    fn queries(&mut self, plan: &TpchPlan, number: u32) {
        for query in ORDERS[number as usize % ORDERS.len()] {
            let text = queries::text(query as usize, plan.scale, number);
            let request = Statement::plain(text, Expect::Success).into();
            self.push(&format!("q{query}"), Effect::Reads, vec![request]);
        }
    }

    /// The refresh function of this name, with a set of orders.
    fn refresh(&mut self, plan: &TpchPlan, name: &str, set: u32) {
        self.push(name, Effect::Changes, refresh::requests(plan, name, set));
    }

    fn stream(self, client: u32, class: Class, opening: Vec<String>) -> Stream {
        Stream {
            end: End::Rounds(self.all.len() as u64),
            requests: self.requests,
            mix: self.all,
            in_order: true,
            opening,
            ..Stream::new(client, class)
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::Scale;

    use super::*;
    use crate::Dialect;

    fn made(step: fn(&TpchPlan, Sql) -> Step) -> Step {
        let plan = TpchPlan { scale: Scale(1), ..TpchPlan::default() };
        step(&plan, Dialect::postgres(16).sql("tpch").unwrap())
    }

    fn classes(stream: &Stream) -> Vec<&str> {
        stream.mix.iter().map(|round| &*round.class.name).collect()
    }

    #[test]
    fn each_stream_has_all_queries() {
        for order in ORDERS {
            let mut sorted = order;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(1..=22), "{order:?}");
        }
        let mut apart = ORDERS.to_vec();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), ORDERS.len());
    }

    #[test]
    fn the_power_test_is_one_stream_between_two_refresh_functions() {
        let step = made(power);
        let [stream] = &step.streams[..] else { panic!("{step:?}") };
        let all = classes(stream);
        assert_eq!((all.len(), all[0], all[1], all[22], all[23]), (24, "rf1", "q14", "q12", "rf2"));
        assert_eq!(stream.end, End::Rounds(24));
        let asked = step.asks.as_ref().unwrap();
        let reads: Vec<String> = stream.requests.iter().map(Request::to_string).collect();
        assert_eq!(asked.queries.len(), 22);
        assert!(asked.queries.iter().all(|query| reads.contains(query)), "{asked:?}");
        // By number, as docs/warnings.md says.
        assert!(asked.queries[0].contains("sum_qty") && asked.queries[21].contains("cntrycode"));
        assert!(asked.opening.iter().any(|text| text.contains("read_only")), "{asked:?}");
        // The values that have answers.
        let first = &stream.requests[stream.mix[1].actions.len() + 3];
        assert!(first.to_string().contains("1995-09-01"), "{first}");
        assert!(!stream.opening.iter().any(|text| text.contains("read_only")), "{stream:?}");
    }

    #[test]
    fn streams_of_the_throughput_test_share_neither_order_nor_values_nor_orders() {
        let step = made(throughput);
        let [one, two, refreshes] = &step.streams[..] else { panic!("{step:?}") };
        assert_eq!((step.key.dop, step.leads()), (2, 3));
        assert_eq!((classes(one)[0], classes(two)[0]), ("q21", "q6"));
        assert_eq!(classes(refreshes), ["rf1", "rf2", "rf1", "rf2"]);
        let of = |stream: &Stream, class: &str| {
            let place = stream.mix.iter().position(|round| round.class.name == class).unwrap();
            stream.requests[place].to_string()
        };
        assert_ne!(of(one, "q1"), of(two, "q1"));
        let asked = &step.asks.as_ref().unwrap().queries;
        assert_eq!(asked.len(), 44);
        assert!([one, two].iter().all(|it| asked.contains(&of(it, "q1"))), "{asked:?}");
        let removes: Vec<String> = refreshes.requests.iter().map(Request::to_string).collect();
        let removes = removes.iter().filter(|text| text.starts_with("DELETE FROM orders"));
        let mut removes: Vec<&String> = removes.collect();
        removes.dedup();
        assert_eq!(removes.len(), 2, "{removes:?}");
    }
}
