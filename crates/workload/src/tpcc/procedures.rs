//! The transactions as procedures of the server: each is one call.
//!
//! They are written once, in what PL/pgSQL and SQL/PSM have in common; a few words that differ
//! stand in braces. In PostgreSQL they are functions, each in the transaction of its call. In MySQL
//! and MariaDB they are procedures, which begin and end their transactions. They answer with what a
//! terminal would show, but for the lines of a new order.
//!
//! Clients draw the arguments, as for single statements. The lines of an order are drawn by the
//! server from a seed, with the generator of Lehmer (S. K. Park and K. W. Miller, *Comm. ACM* 31,
//! 1988), so all systems draw the same.

use super::rows::{DISTRICTS, ITEMS};
use crate::dialect::Sql;

/// A procedure. Names begin with `p_` for parameters, `v_` for variables, `r_` for results.
struct Procedure {
    name: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    /// The columns of its answer.
    answer: &'static str,
    variables: &'static str,
    body: &'static str,
}

/// How a customer is found: in 60 of 100 cases by name.
const FIND: &str = "
IF p_by_name = 1 THEN
    SELECT COUNT(c_id) INTO v_count FROM customer
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last;
    {set} v_before = FLOOR((v_count - 1) / 2);
    SELECT c_id INTO v_c_id FROM customer
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last
    ORDER BY c_first LIMIT 1 OFFSET v_before;
ELSE
    {set} v_c_id = p_c_id;
END IF;
";

/// The next number of Lehmer's generator.
const DRAW: &str = "{set} v_seed = v_seed * 16807 % 2147483647;";

const PROCEDURES: [Procedure; 5] = [
    Procedure {
        name: "new_order",
        parameters: &[
            ("p_w_id", "integer"),
            ("p_d_id", "integer"),
            ("p_c_id", "integer"),
            ("p_ol_cnt", "integer"),
            ("p_remote", "integer"),
            ("p_unused", "integer"),
            ("p_scale", "integer"),
            ("p_seed", "bigint"),
        ],
        answer: "r_discount numeric(4,4), r_last varchar(16), r_credit char(2), \
                 r_w_tax numeric(4,4), r_d_tax numeric(4,4), r_o_id integer, r_total numeric(12,2)",
        variables: "v_discount numeric(4,4); v_last varchar(16); v_credit char(2);
            v_w_tax numeric(4,4); v_d_tax numeric(4,4); v_o_id integer; v_total numeric(12,2);
            v_line integer; v_all_local integer; v_seed bigint; v_i_id integer; v_remote integer;
            v_supply_w_id integer; v_quantity integer; v_amount numeric(12,2);
            v_price numeric(5,2); v_name varchar(24); v_i_data varchar(50); v_stock integer;
            v_s_data varchar(50); v_dist char(24)",
        body: "
SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax
FROM warehouse, customer
WHERE w_id = p_w_id AND c_w_id = w_id AND c_d_id = p_d_id AND c_id = p_c_id;
SELECT d_next_o_id, d_tax INTO v_o_id, v_d_tax FROM district
WHERE d_w_id = p_w_id AND d_id = p_d_id FOR UPDATE;
UPDATE district SET d_next_o_id = v_o_id + 1 WHERE d_w_id = p_w_id AND d_id = p_d_id;
{set} v_all_local = CASE WHEN p_remote = 0 THEN 1 ELSE 0 END;
INSERT INTO orders
VALUES (v_o_id, p_d_id, p_w_id, p_c_id, CURRENT_TIMESTAMP, NULL, p_ol_cnt, v_all_local);
INSERT INTO new_order VALUES (v_o_id, p_d_id, p_w_id);
{set} v_seed = p_seed;
{set} v_total = 0;
{set} v_line = 0;
WHILE v_line < p_ol_cnt {loop}
    {set} v_line = v_line + 1;
    {draw}
    {set} v_i_id = v_seed % 8192;
    {draw}
    {set} v_i_id = ((v_i_id | (v_seed % {items} + 1)) + 5621) % {items} + 1;
    {draw}
    {set} v_quantity = v_seed % 10 + 1;
    {set} v_remote = (p_remote >> v_line) & 1;
    {set} v_supply_w_id = p_w_id;
    IF v_remote = 1 THEN
        {draw}
        {set} v_supply_w_id = (p_w_id + v_seed % (p_scale - 1)) % p_scale + 1;
    END IF;
    IF p_unused = 1 AND v_line = p_ol_cnt THEN
        SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data FROM item WHERE i_id = 0;
    ELSE
        SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data
        FROM item WHERE i_id = v_i_id;
        SELECT s_quantity, s_data, CASE p_d_id {dist} END INTO v_stock, v_s_data, v_dist
        FROM stock WHERE s_w_id = v_supply_w_id AND s_i_id = v_i_id FOR UPDATE;
        {set} v_stock = v_stock - v_quantity;
        IF v_stock < 10 THEN
            {set} v_stock = v_stock + 91;
        END IF;
        {set} v_amount = v_quantity * v_price;
        {set} v_total = v_total + v_amount;
        UPDATE stock SET s_quantity = v_stock, s_ytd = s_ytd + v_quantity,
            s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + v_remote
        WHERE s_w_id = v_supply_w_id AND s_i_id = v_i_id;
        INSERT INTO order_line VALUES (v_o_id, p_d_id, p_w_id, v_line, v_i_id, v_supply_w_id,
            NULL, v_quantity, v_amount, v_dist);
    END IF;
END {loop};
{answer} v_discount, v_last, v_credit, v_w_tax, v_d_tax, v_o_id,
    v_total * (1 - v_discount) * (1 + v_w_tax + v_d_tax);
",
    },
    Procedure {
        name: "payment",
        parameters: &[
            ("p_w_id", "integer"),
            ("p_d_id", "integer"),
            ("p_c_w_id", "integer"),
            ("p_c_d_id", "integer"),
            ("p_by_name", "integer"),
            ("p_c_id", "integer"),
            ("p_c_last", "varchar(16)"),
            ("p_amount", "numeric(7,2)"),
        ],
        answer: "r_w_street_1 varchar(20), r_w_street_2 varchar(20), r_w_city varchar(20), \
                 r_w_state char(2), r_w_zip char(9), r_d_street_1 varchar(20), \
                 r_d_street_2 varchar(20), r_d_city varchar(20), r_d_state char(2), \
                 r_d_zip char(9), r_c_id integer, r_first varchar(16), r_middle char(2), \
                 r_last varchar(16), r_street_1 varchar(20), r_street_2 varchar(20), \
                 r_city varchar(20), r_state char(2), r_zip char(9), r_phone char(16), \
                 r_since {time}, r_credit char(2), r_credit_lim numeric(12,2), \
                 r_discount numeric(4,4), r_balance numeric(12,2), r_data text",
        variables: "v_w_street_1 varchar(20); v_w_street_2 varchar(20); v_w_city varchar(20);
            v_w_state char(2); v_w_zip char(9); v_w_name varchar(10); v_d_street_1 varchar(20);
            v_d_street_2 varchar(20); v_d_city varchar(20); v_d_state char(2); v_d_zip char(9);
            v_d_name varchar(10); v_count bigint; v_before bigint; v_c_id integer;
            v_first varchar(16); v_middle char(2); v_last varchar(16); v_street_1 varchar(20);
            v_street_2 varchar(20); v_city varchar(20); v_state char(2); v_zip char(9);
            v_phone char(16); v_since {time}; v_credit char(2); v_credit_lim numeric(12,2);
            v_discount numeric(4,4); v_balance numeric(12,2); v_data varchar(500)",
        body: "
UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id;
SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name
INTO v_w_street_1, v_w_street_2, v_w_city, v_w_state, v_w_zip, v_w_name
FROM warehouse WHERE w_id = p_w_id;
UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name
INTO v_d_street_1, v_d_street_2, v_d_city, v_d_state, v_d_zip, v_d_name
FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
{find}
SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
    c_credit, c_credit_lim, c_discount, c_balance - p_amount, c_since
INTO v_first, v_middle, v_last, v_street_1, v_street_2, v_city, v_state, v_zip, v_phone,
    v_credit, v_credit_lim, v_discount, v_balance, v_since
FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = v_c_id FOR UPDATE;
IF v_credit = 'BC' THEN
    SELECT c_data INTO v_data FROM customer
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = v_c_id;
    {set} v_data = SUBSTR(CONCAT(v_c_id, ' ', p_c_d_id, ' ', p_c_w_id, ' ', p_d_id, ' ', p_w_id,
        ' ', p_amount, ' ', v_data), 1, 500);
    UPDATE customer SET c_balance = c_balance - p_amount,
        c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1,
        c_data = v_data
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = v_c_id;
ELSE
    UPDATE customer SET c_balance = c_balance - p_amount,
        c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = v_c_id;
END IF;
INSERT INTO history VALUES (v_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, CURRENT_TIMESTAMP,
    p_amount, CONCAT(v_w_name, '    ', v_d_name));
{answer} v_w_street_1, v_w_street_2, v_w_city, v_w_state, v_w_zip, v_d_street_1, v_d_street_2,
    v_d_city, v_d_state, v_d_zip, v_c_id, v_first, v_middle, v_last, v_street_1, v_street_2,
    v_city, v_state, v_zip, v_phone, v_since, v_credit, v_credit_lim, v_discount, v_balance,
    CASE WHEN v_credit = 'BC' THEN SUBSTR(v_data, 1, 200) END;
",
    },
    Procedure {
        name: "order_status",
        parameters: &[
            ("p_c_w_id", "integer"),
            ("p_c_d_id", "integer"),
            ("p_by_name", "integer"),
            ("p_c_id", "integer"),
            ("p_c_last", "varchar(16)"),
        ],
        answer: "r_balance numeric(12,2), r_first varchar(16), r_middle char(2), \
                 r_last varchar(16), r_o_id integer, r_carrier integer, r_entry {time}, \
                 r_i_id integer, r_supply_w_id integer, r_quantity integer, r_amount numeric(6,2), \
                 r_delivery {time}",
        variables: "v_count bigint; v_before bigint; v_c_id integer; v_balance numeric(12,2);
            v_first varchar(16); v_middle char(2); v_last varchar(16); v_o_id integer;
            v_carrier integer; v_entry {time}",
        body: "
{find}
SELECT c_balance, c_first, c_middle, c_last INTO v_balance, v_first, v_middle, v_last
FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = v_c_id;
SELECT o_id, o_carrier_id, o_entry_d INTO v_o_id, v_carrier, v_entry FROM orders
WHERE o_w_id = p_c_w_id AND o_d_id = p_c_d_id AND o_c_id = v_c_id ORDER BY o_id DESC LIMIT 1;
{answer} v_balance, v_first, v_middle, v_last, v_o_id, v_carrier, v_entry,
    ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
FROM order_line WHERE ol_w_id = p_c_w_id AND ol_d_id = p_c_d_id AND ol_o_id = v_o_id;
",
    },
    Procedure {
        name: "delivery",
        parameters: &[("p_w_id", "integer"), ("p_carrier_id", "integer")],
        answer: "r_delivered integer",
        variables: "v_d_id integer; v_o_id integer; v_c_id integer; v_total numeric(12,2);
            v_delivered integer",
        body: "
{set} v_delivered = 0;
{set} v_d_id = 0;
WHILE v_d_id < {districts} {loop}
    {set} v_d_id = v_d_id + 1;
    {set} v_o_id = 0;
    SELECT no_o_id INTO v_o_id FROM new_order WHERE no_w_id = p_w_id AND no_d_id = v_d_id
    ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF v_o_id > 0 THEN
        DELETE FROM new_order
        WHERE no_w_id = p_w_id AND no_d_id = v_d_id AND no_o_id = v_o_id;
        SELECT o_c_id INTO v_c_id FROM orders
        WHERE o_w_id = p_w_id AND o_d_id = v_d_id AND o_id = v_o_id FOR UPDATE;
        UPDATE orders SET o_carrier_id = p_carrier_id
        WHERE o_w_id = p_w_id AND o_d_id = v_d_id AND o_id = v_o_id;
        UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
        WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;
        SELECT SUM(ol_amount) INTO v_total FROM order_line
        WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;
        UPDATE customer SET c_balance = c_balance + v_total, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w_id AND c_d_id = v_d_id AND c_id = v_c_id;
        {set} v_delivered = v_delivered + 1;
    END IF;
END {loop};
{answer} v_delivered;
",
    },
    Procedure {
        name: "stock_level",
        parameters: &[("p_w_id", "integer"), ("p_d_id", "integer"), ("p_threshold", "integer")],
        answer: "r_count bigint",
        variables: "v_next integer",
        body: "
SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
{answer} COUNT(DISTINCT s_i_id) FROM order_line, stock
WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id < v_next AND ol_o_id >= v_next - 20
    AND s_w_id = p_w_id AND s_i_id = ol_i_id AND s_quantity < p_threshold;
",
    },
];

/// After an error, the transaction ends with the call, so that trying again does not commit a part.
const HANDLER: &str = "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;";

/// The words of PL/pgSQL and SQL/PSM that differ.
struct Words {
    /// A procedure's kind.
    kind: &'static str,
    /// A call of it.
    call: &'static str,
    /// Those in braces, in the order in which they are replaced.
    words: [(&'static str, &'static str); 4],
}

fn words(sql: Sql) -> Words {
    if sql.calls_functions() {
        Words {
            kind: "FUNCTION",
            call: "SELECT * FROM",
            words: [
                ("{set} ", ""),
                ("END {loop}", "END LOOP"),
                ("{loop}", "LOOP"),
                ("{answer}", "RETURN QUERY SELECT"),
            ],
        }
    } else {
        Words {
            kind: "PROCEDURE",
            call: "CALL",
            words: [
                ("{set}", "SET"),
                ("END {loop}", "END WHILE"),
                ("{loop}", "DO"),
                ("{answer}", "SELECT"),
            ],
        }
    }
}

/// The statements that create them.
pub(super) fn create(sql: Sql) -> Vec<String> {
    PROCEDURES.iter().map(|it| it.create(sql)).collect()
}

/// The statements that drop those that are there.
pub(super) fn drop(sql: Sql) -> Vec<String> {
    let drop = |it: &Procedure| {
        let types: Vec<&str> = it.parameters.iter().map(|(_, kind)| *kind).collect();
        let types = format!("({})", types.join(", "));
        let types = if sql.calls_functions() { &*types } else { "" };
        format!("DROP {} IF EXISTS steelyard_{}{types}", words(sql).kind, it.name)
    };
    PROCEDURES.iter().map(drop).collect()
}

/// The call of one of them, with these arguments.
pub(super) fn call(sql: Sql, name: &str, arguments: &str) -> String {
    format!("{} steelyard_{name}({arguments});\n", words(sql).call)
}

impl Procedure {
    fn create(&self, sql: Sql) -> String {
        let Words { kind, words, .. } = words(sql);
        let parameters = self.parameters.iter().map(|(name, kind)| format!("{name} {kind}"));
        let head = format!(
            "CREATE {kind} steelyard_{}({})",
            self.name,
            parameters.collect::<Vec<_>>().join(", ")
        );
        let whole = if sql.calls_functions() {
            format!(
                "{head} RETURNS TABLE ({}) LANGUAGE plpgsql AS $$ DECLARE {}; BEGIN {} END $$",
                self.answer, self.variables, self.body
            )
        } else {
            let variables: Vec<&str> = self.variables.split(';').map(str::trim).collect();
            // An order of an item that doesn't exist is rolled back.
            let end = match self.name {
                "new_order" => "IF p_unused = 1 THEN ROLLBACK; ELSE COMMIT; END IF;",
                _ => "COMMIT;",
            };
            format!(
                "{head} BEGIN DECLARE {}; {HANDLER} START TRANSACTION; {} {end} END",
                variables.join("; DECLARE "),
                self.body
            )
        };
        let dist: Vec<String> = (1..=DISTRICTS)
            .map(|district| format!("WHEN {district} THEN s_dist_{district:02}"))
            .collect();
        let whole = whole
            .replace("{find}", FIND)
            .replace("{draw}", DRAW)
            .replace("{dist}", &dist.join(" "))
            .replace("{items}", &ITEMS.to_string())
            .replace("{districts}", &DISTRICTS.to_string())
            .replace("{time}", sql.time());
        words.iter().fold(whole, |text, (word, own)| text.replace(word, own))
    }
}
