//! The tables and their indexes.

use crate::dialect::Sql;

/// The tables with their columns (clause 1.3) and primary keys (clause 1.4). `{time}` is the type
/// of a point in time.
pub(super) const TABLES: [(&str, &str); 9] = [
    (
        "item",
        "i_id integer NOT NULL, i_im_id integer NOT NULL, i_name varchar(24) NOT NULL, \
         i_price decimal(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id)",
    ),
    (
        "warehouse",
        "w_id integer NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, \
         w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, \
         w_zip char(9) NOT NULL, w_tax decimal(4,4) NOT NULL, w_ytd decimal(12,2) NOT NULL, \
         PRIMARY KEY (w_id)",
    ),
    (
        "district",
        "d_id integer NOT NULL, d_w_id integer NOT NULL, d_name varchar(10) NOT NULL, \
         d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, \
         d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL, \
         d_tax decimal(4,4) NOT NULL, d_ytd decimal(12,2) NOT NULL, \
         d_next_o_id integer NOT NULL, PRIMARY KEY (d_w_id, d_id)",
    ),
    (
        "stock",
        "s_i_id integer NOT NULL, s_w_id integer NOT NULL, s_quantity integer NOT NULL, \
         s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, \
         s_dist_04 char(24) NOT NULL, s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, \
         s_dist_07 char(24) NOT NULL, s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, \
         s_dist_10 char(24) NOT NULL, s_ytd integer NOT NULL, s_order_cnt integer NOT NULL, \
         s_remote_cnt integer NOT NULL, s_data varchar(50) NOT NULL, PRIMARY KEY (s_w_id, s_i_id)",
    ),
    (
        "customer",
        "c_id integer NOT NULL, c_d_id integer NOT NULL, c_w_id integer NOT NULL, \
         c_first varchar(16) NOT NULL, c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, \
         c_street_1 varchar(20) NOT NULL, c_street_2 varchar(20) NOT NULL, \
         c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, c_zip char(9) NOT NULL, \
         c_phone char(16) NOT NULL, c_since {time} NOT NULL, c_credit char(2) NOT NULL, \
         c_credit_lim decimal(12,2) NOT NULL, c_discount decimal(4,4) NOT NULL, \
         c_balance decimal(12,2) NOT NULL, c_ytd_payment decimal(12,2) NOT NULL, \
         c_payment_cnt integer NOT NULL, c_delivery_cnt integer NOT NULL, \
         c_data varchar(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id)",
    ),
    (
        "history",
        "h_c_id integer NOT NULL, h_c_d_id integer NOT NULL, h_c_w_id integer NOT NULL, \
         h_d_id integer NOT NULL, h_w_id integer NOT NULL, h_date {time} NOT NULL, \
         h_amount decimal(6,2) NOT NULL, h_data varchar(24) NOT NULL",
    ),
    (
        "orders",
        "o_id integer NOT NULL, o_d_id integer NOT NULL, o_w_id integer NOT NULL, \
         o_c_id integer NOT NULL, o_entry_d {time} NOT NULL, o_carrier_id integer, \
         o_ol_cnt integer NOT NULL, o_all_local integer NOT NULL, \
         PRIMARY KEY (o_w_id, o_d_id, o_id)",
    ),
    (
        "order_line",
        "ol_o_id integer NOT NULL, ol_d_id integer NOT NULL, ol_w_id integer NOT NULL, \
         ol_number integer NOT NULL, ol_i_id integer NOT NULL, ol_supply_w_id integer NOT NULL, \
         ol_delivery_d {time}, ol_quantity integer NOT NULL, ol_amount decimal(6,2) NOT NULL, \
         ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)",
    ),
    (
        "new_order",
        "no_o_id integer NOT NULL, no_d_id integer NOT NULL, no_w_id integer NOT NULL, \
         PRIMARY KEY (no_w_id, no_d_id, no_o_id)",
    ),
];

/// Tables that the first client loads alone: they are small.
pub(super) const SMALL: [&str; 3] = ["item", "warehouse", "district"];

/// The statements that create the empty tables. There are no foreign keys, which the specification
/// leaves open.
pub(super) fn create(sql: Sql) -> Vec<String> {
    let options = sql.table_options();
    let create = |(table, columns): (&str, &str)| {
        format!("CREATE TABLE {table} ({}){options}", columns.replace("{time}", sql.time()))
    };
    TABLES.map(create).into()
}

/// The statements that create the other indexes, on a customer's name and orders, and make
/// statistics.
pub(super) fn index(sql: Sql) -> Vec<String> {
    let one = |table, name: &str, columns| sql.create_indexes(table, &[(name.to_owned(), columns)]);
    let mut statements = one("customer", "customer_name", "c_w_id, c_d_id, c_last, c_first");
    statements.extend(one("orders", "orders_customer", "o_w_id, o_d_id, o_c_id, o_id"));
    statements.extend(sql.analyze(&TABLES.map(|(name, _)| name)));
    statements
}
