//! The tables, their indexes, and their rows.

use std::fmt::Display;

use plan::Scale;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use super::refresh::NEW;
use crate::copy::Generated;
use crate::dialect::Sql;

/// The tables with their columns (clause 1.4.1). Those after [`FIXED`] grow with the scale factor.
pub(super) const TABLES: [(&str, &str); 8] = [
    (
        "region",
        "r_regionkey integer NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152) NOT NULL, \
         PRIMARY KEY (r_regionkey)",
    ),
    (
        "nation",
        "n_nationkey integer NOT NULL, n_name char(25) NOT NULL, n_regionkey integer NOT NULL, \
         n_comment varchar(152) NOT NULL, PRIMARY KEY (n_nationkey)",
    ),
    (
        "part",
        "p_partkey integer NOT NULL, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, \
         p_brand char(10) NOT NULL, p_type varchar(25) NOT NULL, p_size integer NOT NULL, \
         p_container char(10) NOT NULL, p_retailprice decimal(15,2) NOT NULL, \
         p_comment varchar(23) NOT NULL, PRIMARY KEY (p_partkey)",
    ),
    (
        "supplier",
        "s_suppkey integer NOT NULL, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, \
         s_nationkey integer NOT NULL, s_phone char(15) NOT NULL, \
         s_acctbal decimal(15,2) NOT NULL, s_comment varchar(101) NOT NULL, \
         PRIMARY KEY (s_suppkey)",
    ),
    (
        "partsupp",
        "ps_partkey integer NOT NULL, ps_suppkey integer NOT NULL, ps_availqty integer NOT NULL, \
         ps_supplycost decimal(15,2) NOT NULL, ps_comment varchar(199) NOT NULL, \
         PRIMARY KEY (ps_partkey, ps_suppkey)",
    ),
    (
        "customer",
        "c_custkey integer NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, \
         c_nationkey integer NOT NULL, c_phone char(15) NOT NULL, \
         c_acctbal decimal(15,2) NOT NULL, c_mktsegment char(10) NOT NULL, \
         c_comment varchar(117) NOT NULL, PRIMARY KEY (c_custkey)",
    ),
    (
        "orders",
        "o_orderkey bigint NOT NULL, o_custkey integer NOT NULL, o_orderstatus char(1) NOT NULL, \
         o_totalprice decimal(15,2) NOT NULL, o_orderdate date NOT NULL, \
         o_orderpriority char(15) NOT NULL, o_clerk char(15) NOT NULL, \
         o_shippriority integer NOT NULL, o_comment varchar(79) NOT NULL, \
         PRIMARY KEY (o_orderkey)",
    ),
    (
        "lineitem",
        "l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, \
         l_linenumber integer NOT NULL, l_quantity decimal(15,2) NOT NULL, \
         l_extendedprice decimal(15,2) NOT NULL, l_discount decimal(15,2) NOT NULL, \
         l_tax decimal(15,2) NOT NULL, l_returnflag char(1) NOT NULL, \
         l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, \
         l_receiptdate date NOT NULL, l_shipinstruct char(25) NOT NULL, \
         l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL, \
         PRIMARY KEY (l_orderkey, l_linenumber)",
    ),
];

/// Tables that have the same rows at every scale.
pub(super) const FIXED: usize = 2;

/// Indexes besides those of primary keys: on foreign keys and dates, as clause 1.5.4 allows.
const INDEXES: [(&str, &[(&str, &str)]); 6] = [
    ("nation", &[("nation_region", "n_regionkey")]),
    ("supplier", &[("supplier_nation", "s_nationkey")]),
    ("partsupp", &[("partsupp_supplier", "ps_suppkey")]),
    ("customer", &[("customer_nation", "c_nationkey")]),
    ("orders", &[("orders_customer", "o_custkey"), ("orders_date", "o_orderdate")]),
    (
        "lineitem",
        &[
            ("lineitem_partsupp", "l_partkey, l_suppkey"),
            ("lineitem_supplier", "l_suppkey"),
            ("lineitem_shipdate", "l_shipdate"),
        ],
    ),
];

/// The statements that create the empty tables.
pub(super) fn create(sql: Sql) -> Vec<String> {
    let options = sql.table_options();
    let create = |(table, columns)| format!("CREATE TABLE {table} ({columns}){options}");
    TABLES.map(create).into()
}

/// The statements that create indexes and make statistics.
pub(super) fn index(sql: Sql) -> Vec<String> {
    let of_table = |(table, indexes): &(&str, &[(&str, &'static str)])| {
        let named: Vec<(String, &str)> =
            indexes.iter().map(|(name, columns)| ((*name).to_owned(), *columns)).collect();
        sql.create_indexes(table, &named)
    };
    let names = TABLES.map(|(name, _)| name);
    INDEXES.iter().flat_map(of_table).chain(sql.analyze(&names)).collect()
}

/// The rows of a part of a table, in COPY's text format; of `new orders` and `new lineitem`, those
/// of orders under the keys of new ones. The first call makes the 300 MB of text that comments are
/// cut from.
pub(crate) fn rows(of: &Generated) -> Box<dyn Iterator<Item = String> + Send> {
    if let Some(table) = of.table.strip_prefix("new ") {
        let loaded = Generated { table: table.to_owned(), ..of.clone() };
        return Box::new(rows(&loaded).map(renewed));
    }
    let (scale, part, parts) = (Scale(of.scale).factor(), of.part as i32, of.parts as i32);
    match of.table.as_str() {
        "region" => lines(RegionGenerator::new(scale, part, parts).iter()),
        "nation" => lines(NationGenerator::new(scale, part, parts).iter()),
        "part" => lines(PartGenerator::new(scale, part, parts).iter()),
        "supplier" => lines(SupplierGenerator::new(scale, part, parts).iter()),
        "partsupp" => lines(PartSuppGenerator::new(scale, part, parts).iter()),
        "customer" => lines(CustomerGenerator::new(scale, part, parts).iter()),
        "orders" => lines(OrderGenerator::new(scale, part, parts).iter()),
        "lineitem" => lines(LineItemGenerator::new(scale, part, parts).iter()),
        _ => Box::new(std::iter::empty()),
    }
}

/// A row of an order under the key of a new one.
fn renewed(line: String) -> String {
    let key: Option<(u64, &str)> =
        line.split_once('\t').and_then(|(key, rest)| Some((key.parse().ok()?, rest)));
    key.map_or_else(String::new, |(key, rest)| format!("{}\t{rest}", key + NEW))
}

/// dbgen ends each field with a bar. No field has a bar, a tab or a backslash.
fn lines<R: Display>(
    rows: impl Iterator<Item = R> + Send + 'static,
) -> Box<dyn Iterator<Item = String> + Send> {
    Box::new(rows.map(|row| {
        let mut line = row.to_string();
        line.pop();
        line.replace('|', "\t")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;
    use crate::copy::Generator;

    fn part_of(table: &str, part: u32, parts: u32) -> Vec<String> {
        let table = table.to_owned();
        let by = Generator::Tpch;
        rows(&Generated { by, table, scale: 1, part, parts }).collect()
    }

    /// Cardinalities at scale factor 0.01 (clause 4.2.5.1); the number of lines is dbgen's.
    #[test]
    fn tables_have_their_rows_in_as_many_parts_as_wanted() {
        let wanted = [5, 25, 2_000, 100, 8_000, 1_500, 15_000, 60_175];
        for ((place, (table, columns)), wanted) in TABLES.iter().enumerate().zip(wanted) {
            let whole = part_of(table, 1, 1);
            assert_eq!(whole.len(), wanted, "{table}");
            let fields = columns.matches(" NOT NULL").count();
            for row in &whole {
                assert_eq!(row.split('\t').count(), fields, "{table}: {row}");
                assert!(!row.contains(['\\', '|', '\n']), "{table}: {row}");
            }
            if place >= FIXED {
                let parts: Vec<String> = (1..=3).flat_map(|it| part_of(table, it, 3)).collect();
                assert!(parts == whole, "{table} in three parts");
            }
        }
        assert!(part_of("nowhere", 1, 1).is_empty());
    }

    #[test]
    fn indexes_are_on_columns_that_there_are() {
        for (table, indexes) in INDEXES {
            let (_, columns) = TABLES.iter().find(|(name, _)| *name == table).unwrap();
            for column in indexes.iter().flat_map(|(_, of)| of.split(", ")) {
                assert!(columns.contains(&format!("{column} ")), "{table}.{column}");
            }
        }
        let sql = |dialect: Dialect| dialect.sql("tpch").unwrap();
        let postgres = index(sql(Dialect::postgres(18)));
        assert_eq!((postgres.len(), &*postgres[9]), (10, "VACUUM ANALYZE"));
        let mysql = index(sql(Dialect::of("mysql", 8, None)));
        assert_eq!(mysql.len(), 7);
        assert!(mysql[6].starts_with("ANALYZE TABLE region, nation"), "{}", mysql[6]);
        assert!(create(sql(Dialect::of("mysql", 8, None)))[0].ends_with("ENGINE=InnoDB"));
    }
}
