//! The rows of the tables as they are loaded (clause 4.3.3.1). Each follows from its key, so the
//! same rows are made however clients share the tables.

use std::fmt::Write;
use std::ops::{Range, RangeInclusive};

use crate::copy::Generated;
use crate::rng::{Rng, stream_seed};

/// Items, and the stock of a warehouse.
pub(super) const ITEMS: u32 = 100_000;
/// Districts of a warehouse.
pub(super) const DISTRICTS: u32 = 10;
/// Customers of a district, each of whom has one order.
pub(super) const CUSTOMERS: u32 = 3000;
/// The first order of a district that is not delivered.
const NEW: u32 = 2101;
/// The moment of all loaded orders and payments.
const TIME: &str = "2022-06-16 10:00:00";
/// The constant of the random numbers of last names (clause 2.1.6.1).
const LAST_NAMES: u64 = 157;

type Lines = Box<dyn Iterator<Item = String> + Send>;

/// The rows of a part of a table, in COPY's text format.
pub(crate) fn rows(of: &Generated) -> Lines {
    let warehouses = of.scale;
    // Parts are made of whole districts, or as many items.
    let units = u64::from(warehouses) * u64::from(DISTRICTS);
    let bound = |part: u32| (units * u64::from(part) / u64::from(of.parts)) as u32;
    let districts = districts(bound(of.part - 1)..bound(of.part));
    let customers = 1..=CUSTOMERS;
    match of.table.as_str() {
        "item" => Box::new((1..=ITEMS).map(item)),
        "warehouse" => Box::new((1..=warehouses).map(warehouse)),
        "district" => Box::new(districts.map(|(w, d)| district(w, d))),
        "stock" => {
            let each = ITEMS / DISTRICTS;
            let items = move |(w, d): (u32, u32)| {
                ((d - 1) * each + 1..=d * each).map(move |item| stock(w, item))
            };
            Box::new(districts.flat_map(items))
        }
        "customer" => each(districts, customers, customer),
        "history" => each(districts, customers, history),
        "orders" => Box::new(districts.flat_map(|(w, d)| {
            (1..).zip(buyers(w, d)).map(move |(order, buyer)| self::order(w, d, order, buyer))
        })),
        "order_line" => Box::new(
            districts.flat_map(|(w, d)| (1..=CUSTOMERS).flat_map(move |order| lines(w, d, order))),
        ),
        "new_order" => each(districts, NEW..=CUSTOMERS, |w, d, order| row(&[order, d, w])),
        _ => Box::new(std::iter::empty()),
    }
}

/// Districts with their warehouses, by number from 0.
fn districts(numbers: Range<u32>) -> impl Iterator<Item = (u32, u32)> + Send {
    numbers.map(|number| (number / DISTRICTS + 1, number % DISTRICTS + 1))
}

/// A row for each of these numbers in each district.
fn each(
    districts: impl Iterator<Item = (u32, u32)> + Send + 'static,
    numbers: RangeInclusive<u32>,
    row: fn(u32, u32, u32) -> String,
) -> Lines {
    Box::new(districts.flat_map(move |(w, d)| numbers.clone().map(move |number| row(w, d, number))))
}

/// The generator of a row.
fn random(table: &str, warehouse: u32, district: u32, number: u32) -> Rng {
    Rng::new(stream_seed(u64::from(number), table, warehouse, district, "tpcc"))
}

fn row(numbers: &[u32]) -> String {
    let mut row = String::with_capacity(128);
    for (place, number) in numbers.iter().enumerate() {
        if place > 0 {
            row.push('\t');
        }
        row.push_str(itoa::Buffer::new().format(*number));
    }
    row
}

fn item(id: u32) -> String {
    let rng = &mut random("item", 0, 0, id);
    let (image, name) = (rng.range(1, 10_001), text(rng, 14..=24));
    let (price, data) = (cents(rng, 100..=10_000), data(rng));
    format!("{id}\t{image}\t{name}\t{price}\t{data}")
}

fn warehouse(id: u32) -> String {
    let rng = &mut random("warehouse", id, 0, 0);
    let (name, address) = (text(rng, 6..=10), address(rng));
    format!("{id}\t{name}\t{address}\t{}\t300000.00", fraction(rng, 2000))
}

fn district(warehouse: u32, id: u32) -> String {
    let rng = &mut random("district", warehouse, id, 0);
    let (name, address) = (text(rng, 6..=10), address(rng));
    let (tax, next) = (fraction(rng, 2000), CUSTOMERS + 1);
    format!("{id}\t{warehouse}\t{name}\t{address}\t{tax}\t30000.00\t{next}")
}

fn stock(warehouse: u32, item: u32) -> String {
    let rng = &mut random("stock", warehouse, 0, item);
    let mut row = String::with_capacity(384);
    let _ = write!(row, "{item}\t{warehouse}\t{}", rng.range(10, 101));
    for _ in 0..DISTRICTS {
        row.push('\t');
        row.push_str(&text(rng, 24..=24));
    }
    let _ = write!(row, "\t0\t0\t0\t{}", data(rng));
    row
}

fn customer(warehouse: u32, district: u32, id: u32) -> String {
    let rng = &mut random("customer", warehouse, district, id);
    // The first thousand have all names.
    let number = match id {
        ..=1000 => id - 1,
        _ => ((rng.below(256) | rng.below(1000)) + LAST_NAMES) as u32 % 1000,
    };
    let (first, last) = (text(rng, 8..=16), last_name(number));
    let (address, phone) = (address(rng), digits(rng, 16));
    let credit = if rng.below(10) == 0 { "BC" } else { "GC" };
    let (discount, data) = (fraction(rng, 5000), text(rng, 300..=500));
    format!(
        "{id}\t{district}\t{warehouse}\t{first}\tOE\t{last}\t{address}\t{phone}\t{TIME}\t{credit}\t\
         50000.00\t{discount}\t-10.00\t10.00\t1\t0\t{data}"
    )
}

fn history(warehouse: u32, district: u32, customer: u32) -> String {
    let data = text(&mut random("history", warehouse, district, customer), 12..=24);
    let place = row(&[customer, district, warehouse, district, warehouse]);
    format!("{place}\t{TIME}\t10.00\t{data}")
}

/// The customers of a district in the order of their orders: a random permutation.
fn buyers(warehouse: u32, district: u32) -> Vec<u32> {
    let mut customers: Vec<u32> = (1..=CUSTOMERS).collect();
    random("buyers", warehouse, district, 0).shuffle(&mut customers);
    customers
}

/// The number of lines of an order.
fn line_count(warehouse: u32, district: u32, order: u32) -> u32 {
    random("lines", warehouse, district, order).range(5, 16) as u32
}

fn order(warehouse: u32, district: u32, id: u32, customer: u32) -> String {
    let carrier = match id {
        ..NEW => random("orders", warehouse, district, id).range(1, 11).to_string(),
        _ => "\\N".to_owned(),
    };
    let count = line_count(warehouse, district, id);
    let place = row(&[id, district, warehouse, customer]);
    format!("{place}\t{TIME}\t{carrier}\t{count}\t1")
}

/// The lines of an order. What was delivered costs nothing, so that customers owe nothing for it.
fn lines(warehouse: u32, district: u32, order: u32) -> impl Iterator<Item = String> {
    let mut rng = random("order_line", warehouse, district, order);
    (1..=line_count(warehouse, district, order)).map(move |number| {
        let rng = &mut rng;
        let item = rng.range(1, i64::from(ITEMS) + 1) as u32;
        let (delivered, amount) = match order {
            ..NEW => (TIME, "0.00".to_owned()),
            _ => ("\\N", cents(rng, 1..=999_999)),
        };
        let info = text(rng, 24..=24);
        let mut row = row(&[order, district, warehouse, number, item, warehouse]);
        for column in [delivered, "5", &amount, &info] {
            row.push('\t');
            row.push_str(column);
        }
        row
    })
}

/// The syllables of last names (clause 4.3.2.3).
const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of a number below 1000.
pub(super) fn last_name(number: u32) -> String {
    let digit = |of: u32| SYLLABLES[(number / of % 10) as usize];
    [digit(100), digit(10), digit(1)].concat()
}

/// A random text of letters and digits (clause 4.3.2.2).
fn text(rng: &mut Rng, length: RangeInclusive<i64>) -> String {
    const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let length = rng.range(*length.start(), length.end() + 1) as usize;
    let mut text = Vec::with_capacity(length);
    while text.len() < length {
        // Its digits in base 62, the first eight of which are as good as random.
        let mut bits = rng.next_u64();
        for _ in 0..8.min(length - text.len()) {
            let digit = u128::from(bits) * 62;
            text.push(LETTERS[(digit >> 64) as usize]);
            bits = digit as u64;
        }
    }
    // These are ASCII.
    String::from_utf8(text).unwrap_or_default()
}

fn digits(rng: &mut Rng, count: u32) -> String {
    let mut digits = Vec::new();
    rng.digits(1, count, &mut digits);
    digits.into_iter().map(char::from).collect()
}

/// A text that has the word ORIGINAL in it in one of ten rows.
fn data(rng: &mut Rng) -> String {
    let mut data = text(rng, 26..=50);
    let word = "ORIGINAL";
    if rng.below(10) == 0 {
        let at = rng.below((data.len() - word.len()) as u64 + 1) as usize;
        data.replace_range(at..at + word.len(), word);
    }
    data
}

/// Two streets, a city, a state and a zip code.
fn address(rng: &mut Rng) -> String {
    let streets = [text(rng, 10..=20), text(rng, 10..=20), text(rng, 10..=20)];
    let state = [letter(rng), letter(rng)].map(String::from).concat();
    format!("{}\t{state}\t{}11111", streets.join("\t"), digits(rng, 4))
}

fn letter(rng: &mut Rng) -> char {
    char::from(b'A' + rng.below(26) as u8)
}

/// An amount between two numbers of cents.
fn cents(rng: &mut Rng, range: RangeInclusive<i64>) -> String {
    let cents = rng.range(*range.start(), range.end() + 1);
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// A fraction of up to so many parts in ten thousand.
fn fraction(rng: &mut Rng, most: i64) -> String {
    format!("0.{:04}", rng.range(0, most + 1))
}
