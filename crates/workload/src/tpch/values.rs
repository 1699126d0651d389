//! The values that go into the queries (TPC Benchmark H, revision 3, clauses 2.4.1 to 2.4.22).

use plan::Scale;
use tpchgen::distribution::Distributions;

use crate::rng::{Rng, stream_seed};

/// Values are the same in every run.
const SEED: u64 = 1;

/// The values of each query with which the specification validates answers at scale factor 1.
const VALIDATION: [&[&str]; 22] = [
    &["90"],
    &["15", "BRASS", "EUROPE"],
    &["BUILDING", "1995-03-15"],
    &["1993-07-01"],
    &["ASIA", "1994-01-01"],
    &["1994-01-01", "0.06", "24"],
    &["FRANCE", "GERMANY"],
    &["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"],
    &["green"],
    &["1993-10-01"],
    &["GERMANY"],
    &["MAIL", "SHIP", "1994-01-01"],
    &["special", "requests"],
    &["1995-09-01"],
    &["1996-01-01"],
    &["Brand#45", "MEDIUM POLISHED", "49", "14", "23", "45", "19", "3", "36", "9"],
    &["Brand#23", "MED BOX"],
    &["300"],
    &["Brand#12", "Brand#23", "Brand#34", "1", "10", "20"],
    &["forest", "1994-01-01", "CANADA"],
    &["SAUDI ARABIA"],
    &["13", "31", "23", "29", "30", "18", "17"],
];

/// The values of query `number` (from 1) in one of its sets (from 0): `:1`, `:2` and so on. The
/// first set is the one of the validation.
pub(super) fn values(number: usize, scale: Scale, set: u32) -> Vec<String> {
    let mut all = match (set, VALIDATION.get(number.wrapping_sub(1))) {
        (0, Some(values)) => values.iter().map(|value| (*value).to_owned()).collect(),
        _ => Draws(Rng::new(stream_seed(SEED, &format!("q{number}"), 1, set, "values"))).of(number),
    };
    if number == 11 {
        all.push((0.0001 / scale.factor()).to_string());
    }
    all
}

struct Draws(Rng);

impl Draws {
    fn of(&mut self, number: usize) -> Vec<String> {
        let all = Distributions::static_default();
        let (nations, regions) = (all.nations(), all.regions().get_values());
        let nation = |at: usize| nations.get_value(at).to_owned();
        match number {
            1 => vec![self.number(60, 120)],
            2 => {
                let kind = self.words(all.part_types().get_values(), 2..3);
                vec![self.number(1, 50), kind, self.one(regions)]
            }
            3 => {
                let day = self.0.range(1, 32);
                vec![self.one(all.market_segments().get_values()), format!("1995-03-{day:02}")]
            }
            4 | 15 => vec![self.month(1993, 0, 58)],
            5 => vec![self.one(regions), self.year()],
            6 => {
                let discount = self.0.range(2, 10);
                vec![self.year(), format!("0.0{discount}"), self.number(24, 25)]
            }
            7 => self.distinct(nations.get_values(), 2),
            8 => {
                let at = self.0.below(nations.size() as u64) as usize;
                // Weights are the numbers of regions.
                let region = regions.get(nations.get_weight(at) as usize).copied();
                let kind = self.one(all.part_types().get_values());
                vec![nation(at), region.unwrap_or_default().to_owned(), kind]
            }
            9 => vec![self.one(all.part_colors().get_values())],
            10 => vec![self.month(1993, 1, 24)],
            11 | 21 => vec![self.one(nations.get_values())],
            12 => {
                let mut modes = self.distinct(all.ship_modes().get_values(), 2);
                modes.push(self.year());
                modes
            }
            13 => {
                let first = self.one(&["special", "pending", "unusual", "express"]);
                vec![first, self.one(&["packages", "requests", "accounts", "deposits"])]
            }
            14 => vec![self.month(1993, 0, 60)],
            16 => {
                let brand = self.brand();
                let kind = self.words(all.part_types().get_values(), 0..2);
                let sizes: Vec<String> = (1..=50).map(|size| size.to_string()).collect();
                let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
                [vec![brand, kind], self.distinct(&sizes, 8)].concat()
            }
            17 => vec![self.brand(), self.one(all.part_containers().get_values())],
            18 => vec![self.number(312, 315)],
            19 => vec![
                self.brand(),
                self.brand(),
                self.brand(),
                self.number(1, 10),
                self.number(10, 20),
                self.number(20, 30),
            ],
            20 => vec![
                self.one(all.part_colors().get_values()),
                self.year(),
                self.one(nations.get_values()),
            ],
            _ => {
                let codes: Vec<String> = (10..35).map(|code| code.to_string()).collect();
                let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
                self.distinct(&codes, 7)
            }
        }
    }

    /// A whole number, both ends included.
    fn number(&mut self, low: i64, high: i64) -> String {
        self.0.range(low, high + 1).to_string()
    }

    fn one(&mut self, all: &[&str]) -> String {
        all.get(self.0.below(all.len() as u64) as usize).copied().unwrap_or_default().to_owned()
    }

    /// Some words of one of these.
    fn words(&mut self, all: &[&str], which: std::ops::Range<usize>) -> String {
        let whole = self.one(all);
        let words = whole.split(' ').skip(which.start).take(which.len());
        words.collect::<Vec<_>>().join(" ")
    }

    fn distinct(&mut self, all: &[&str], count: usize) -> Vec<String> {
        let mut order = all.to_vec();
        self.0.shuffle(&mut order);
        order.into_iter().take(count).map(str::to_owned).collect()
    }

    fn brand(&mut self) -> String {
        format!("Brand#{}{}", self.0.range(1, 6), self.0.range(1, 6))
    }

    /// The first day of a year of 1993 to 1997.
    fn year(&mut self) -> String {
        format!("{}-01-01", self.0.range(1993, 1998))
    }

    /// The first day of one of `count` months, the first of them so many after January of `year`.
    fn month(&mut self, year: i64, first: i64, count: i64) -> String {
        let month = first + self.0.range(0, count);
        format!("{}-{:02}-01", year + month / 12, month % 12 + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn sets(number: usize) -> Vec<Vec<String>> {
        (1..=2000).map(|set| values(number, Scale(100), set)).collect()
    }

    fn column(number: usize, place: usize) -> BTreeMap<String, f64> {
        let mut counts = BTreeMap::new();
        for set in sets(number) {
            *counts.entry(set[place].clone()).or_default() += 1.0;
        }
        counts
    }

    /// (query, place, number of values): as many values as the specification says, all of them
    /// alike. Chi-squared stays below its mean plus five standard deviations.
    #[test]
    fn values_are_uniform_over_as_many_as_there_should_be() {
        for (number, place, count) in [
            (1, 0, 61),
            (2, 0, 50),
            (2, 1, 5),
            (2, 2, 5),
            (3, 0, 5),
            (3, 1, 31),
            (4, 0, 58),
            (5, 1, 5),
            (6, 1, 8),
            (6, 2, 2),
            (7, 0, 25),
            (7, 1, 25),
            (8, 0, 25),
            (8, 2, 150),
            (9, 0, 92),
            (10, 0, 24),
            (11, 0, 25),
            (12, 0, 7),
            (13, 0, 4),
            (13, 1, 4),
            (14, 0, 60),
            (15, 0, 58),
            (16, 0, 25),
            (16, 1, 30),
            (16, 9, 50),
            (17, 1, 40),
            (18, 0, 4),
            (19, 3, 10),
            (19, 4, 11),
            (19, 5, 11),
            (20, 0, 92),
            (22, 6, 25),
        ] {
            let counts = column(number, place);
            assert_eq!(counts.len(), count, "q{number} :{}", place + 1);
            let expected = 2000.0 / count as f64;
            let squares = counts.values().map(|n| (n - expected) * (n - expected) / expected);
            let degrees = count as f64 - 1.0;
            let found = squares.sum::<f64>();
            let most = degrees + 5.0 * (2.0 * degrees).sqrt();
            assert!(found < most, "q{number} :{}: {found} of at most {most}", place + 1);
        }
    }

    #[test]
    fn values_fit_each_other() {
        let regions = Distributions::static_default();
        for set in sets(8) {
            let nation = regions.nations().get_values().iter().position(|it| *it == set[0]);
            let region = regions.nations().get_weight(nation.unwrap());
            assert_eq!(regions.regions().get_value(region as usize), set[1], "{set:?}");
        }
        for number in [7, 12, 16, 22] {
            for set in sets(number) {
                let several = if number == 16 { &set[2..] } else { &set[..set.len().min(7)] };
                let mut apart = several.to_vec();
                apart.sort();
                apart.dedup();
                assert_eq!(apart.len(), several.len(), "q{number}: {set:?}");
            }
        }
        assert_eq!(values(8, Scale(100), 0)[1], "AMERICA");
        assert_eq!(values(11, Scale(1), 0), ["GERMANY", "0.01"]);
        assert_eq!(column(10, 0).keys().next().map(String::as_str), Some("1993-02-01"));
        assert_eq!(column(10, 0).keys().last().map(String::as_str), Some("1995-01-01"));
        assert_eq!(column(4, 0).keys().last().map(String::as_str), Some("1997-10-01"));
    }
}
