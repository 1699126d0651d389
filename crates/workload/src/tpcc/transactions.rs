//! The five transactions (clauses 2.4 to 2.8), as scripts: statements need what earlier ones found.

use ::script::{Script, ScriptError, Symbols};
use plan::{Home, TpccMode, TpccPlan};

use super::procedures::call;
use super::rows::{CUSTOMERS, DISTRICTS, ITEMS, last_name};
use crate::class::{Class, Effect};
use crate::dialect::Sql;
use crate::error::Error;
use crate::scripts::Scripts;
use crate::sent::Sent;

/// A transaction.
pub(super) struct Transaction {
    /// Its class.
    pub(super) class: Class,
    /// How many of 100 transactions it is.
    pub(super) weight: u32,
    /// Its script.
    text: fn(&Writer) -> String,
    /// The same as a call of a procedure.
    call: fn(&Writer) -> String,
    /// Seconds that a user types before it, and the mean of those that one thinks after it (clause
    /// 5.2.5.7).
    pauses: [u32; 2],
    /// The variable that counts the rounds of its loop, if it has one.
    counter: Option<&'static str>,
}

const fn class(name: &'static str, plural: &'static str, effect: Effect) -> Class {
    Class::new(name, plural, "transactions", effect)
}

/// The mix (clause 5.2.3), which asks for at least so many of all but new orders.
pub(super) const MIX: [Transaction; 5] = [
    Transaction {
        class: class("new-order", "new orders", Effect::Changes),
        weight: 45,
        text: Writer::new_order,
        call: Writer::call_new_order,
        pauses: [18, 12],
        counter: Some("line"),
    },
    Transaction {
        class: class("payment", "payments", Effect::Changes),
        weight: 43,
        text: Writer::payment,
        call: Writer::call_payment,
        pauses: [3, 12],
        counter: None,
    },
    Transaction {
        class: class("order-status", "order status queries", Effect::Reads),
        weight: 4,
        text: Writer::order_status,
        call: Writer::call_order_status,
        pauses: [2, 10],
        counter: None,
    },
    Transaction {
        class: class("delivery", "deliveries", Effect::Changes),
        weight: 4,
        text: Writer::delivery,
        call: Writer::call_delivery,
        pauses: [2, 5],
        counter: Some("d_id"),
    },
    Transaction {
        class: class("stock-level", "stock level queries", Effect::Reads),
        weight: 4,
        text: Writer::stock_level,
        call: Writer::call_stock_level,
        pauses: [2, 5],
        counter: None,
    },
];

/// The scripts of all transactions, in their order.
///
/// # Errors
/// [`Error::Script`] if one can't be parsed.
pub(super) fn scripts(plan: &TpccPlan, sql: Sql) -> Result<Scripts, Error> {
    let writer = Writer { home: plan.home, sql };
    let names: Vec<String> = (0..1000).map(last_name).collect();
    let mut symbols = Symbols::new();
    let last = symbols.define("c_last");
    let mut parse = |it: &Transaction| {
        let text = match plan.mode {
            TpccMode::Statements => (it.text)(&writer),
            TpccMode::Procedures => (it.call)(&writer),
        };
        let text = if plan.think { pause(it.pauses) + &text } else { text };
        let mut script = ::script::parse(&it.class.name, &text, &mut symbols)?;
        script.choose(last, &names);
        let counter = it.counter.filter(|_| plan.mode == TpccMode::Statements);
        if let Some(counter) = counter.and_then(|name| symbols.slot(name)) {
            script.repeat(counter);
        }
        Ok((script, it.weight))
    };
    let scripts: Result<Vec<(Script, u32)>, ScriptError> = MIX.iter().map(&mut parse).collect();
    Ok(Scripts {
        scripts: scripts.map_err(|error| Error::Script(error.to_string()))?,
        symbols,
        given: Vec::new(),
        scale: i64::from(plan.warehouses),
        literals: true,
        sent: if plan.prepared { Sent::Described } else { Sent::Text },
        // Until it succeeds.
        max_tries: 0,
        latency_limit: None,
        thinks: plan.think,
    })
}

/// A number that is not uniformly distributed (clause 2.1.6), with a constant of a run.
fn non_uniform(spread: u32, low: u32, high: u32, constant: u32) -> String {
    let span = high - low + 1;
    format!("((random(0, {spread}) | random({low}, {high})) + {constant}) % {span} + {low}")
}

fn random_customer() -> String {
    non_uniform(1023, 1, CUSTOMERS, 487)
}

/// A pause in which a user types, and thinks for a time that is exponentially distributed up to ten
/// times its mean (clause 5.2.5.4). One thinks before the transaction, so that clients don't begin
/// at the same moment, and none is thinking about the last one when the step ends.
fn pause([typing, thinking]: [u32; 2]) -> String {
    format!(
        "\\set pause {typing}000 + random_exponential(0, {thinking}0000 - 1, 10)\n\\sleep :pause ms\n"
    )
}

/// Draws the customer of a payment or order, in 60 of 100 cases by last name.
fn draw_customer() -> String {
    let (customer, name) = (random_customer(), non_uniform(255, 0, 999, 223));
    format!("\\set by_name random(1, 100) <= 60\n\\set c_id {customer}\n\\set c_last {name}\n")
}

/// Sets `c_id`, if by last name, to the customer in the middle of those who have it.
const FIND: &str = "\\if :by_name\n\
    SELECT COUNT(c_id) AS name_cnt FROM customer \
    WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_last = :c_last \\gset\n\
    \\set before (:name_cnt - 1) / 2\n\
    SELECT c_id FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_last = :c_last \
    ORDER BY c_first LIMIT 1 OFFSET :before \\gset\n\
    \\endif\n";

/// Whether it is by last name, as a number.
const HAS_NAME: &str = "\\set has_name case when :by_name then 1 else 0 end\n";

/// Writes the scripts.
struct Writer {
    home: Home,
    sql: Sql,
}

impl Writer {
    /// Sets the warehouse and district of the client's terminal.
    fn terminal(&self) -> String {
        let [warehouse, district] = match self.home {
            Home::Fixed => [
                ":client_id % :scale + 1".to_owned(),
                format!(":client_id / :scale % {DISTRICTS} + 1"),
            ],
            Home::Any => ["random(1, :scale)".to_owned(), format!("random(1, {DISTRICTS})")],
        };
        format!("\\set w_id {warehouse}\n\\set terminal_d_id {district}\n")
    }

    /// Draws an order, but for its lines.
    fn draw_order(&self) -> String {
        let (terminal, customer) = (self.terminal(), random_customer());
        // Bit by bit, whether a line's warehouse is another one: that is known before the lines.
        let remote: String = (1..=15)
            .map(|line| {
                let bit = 1 << line;
                format!(
                    "\\set remote :remote + case when :ol_cnt >= {line} and :scale > 1 and \
                     random(1, 100) = 1 then {bit} else 0 end\n"
                )
            })
            .collect();
        format!(
            "{terminal}\
             \\set d_id random(1, {DISTRICTS})\n\
             \\set c_id {customer}\n\
             \\set ol_cnt random(5, 15)\n\
             \\set unused random(1, 100) = 1\n\
             \\set remote 0\n\
             {remote}\
             \\set all_local case when :remote = 0 then 1 else 0 end\n"
        )
    }

    fn call_new_order(&self) -> String {
        let arguments = ":w_id, :d_id, :c_id, :ol_cnt, :remote, :rolls_back, :scale, :seed";
        let call = call(self.sql, "new_order", arguments);
        // A function can't roll back the transaction that calls it.
        let call = if self.sql.calls_functions() {
            format!("\\if :unused\nBEGIN;\n{call}ROLLBACK;\n\\else\n{call}\\endif\n")
        } else {
            call
        };
        format!(
            "{}\\set rolls_back case when :unused then 1 else 0 end\n\
             \\set seed random(1, 2147483646)\n{call}",
            self.draw_order()
        )
    }

    fn new_order(&self) -> String {
        let draw = self.draw_order();
        let item = non_uniform(8191, 1, ITEMS, 5621);
        let stock: String = (1..=DISTRICTS)
            .map(|district| {
                let word = if district == 1 { "if" } else { "elif" };
                format!(
                    "\\{word} :d_id = {district}\n\
                     SELECT s_quantity, s_data, s_dist_{district:02} AS s_dist FROM stock \
                     WHERE s_w_id = :supply_w_id AND s_i_id = :i_id FOR UPDATE \\gset\n"
                )
            })
            .collect();
        format!(
            "{draw}\
             BEGIN;\n\
             SELECT c_discount, c_last, c_credit, w_tax FROM warehouse, customer \
             WHERE w_id = :w_id AND c_w_id = w_id AND c_d_id = :d_id AND c_id = :c_id;\n\
             SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = :w_id AND d_id = :d_id \
             FOR UPDATE \\gset\n\
             UPDATE district SET d_next_o_id = :d_next_o_id + 1 \
             WHERE d_w_id = :w_id AND d_id = :d_id;\n\
             INSERT INTO orders VALUES (:d_next_o_id, :d_id, :w_id, :c_id, CURRENT_TIMESTAMP, \
             NULL, :ol_cnt, :all_local);\n\
             INSERT INTO new_order VALUES (:d_next_o_id, :d_id, :w_id);\n\
             \\set line 0\n\
             \\if :line < :ol_cnt\n\
             \\set line :line + 1\n\
             \\set i_id {item}\n\
             \\set ol_quantity random(1, 10)\n\
             \\set is_remote (:remote >> :line) & 1\n\
             \\set supply_w_id case when :is_remote = 1 \
             then (:w_id - 1 + random(1, :scale - 1)) % :scale + 1 else :w_id end\n\
             \\if :unused and :line = :ol_cnt\n\
             SELECT i_price, i_name, i_data FROM item WHERE i_id = 0;\n\
             \\else\n\
             SELECT i_price, i_name, i_data FROM item WHERE i_id = :i_id \\gset\n\
             {stock}\
             \\endif\n\
             \\set s_quantity case when :s_quantity - :ol_quantity >= 10 \
             then :s_quantity - :ol_quantity else :s_quantity - :ol_quantity + 91 end\n\
             \\set ol_amount :ol_quantity * :i_price\n\
             UPDATE stock SET s_quantity = :s_quantity, s_ytd = s_ytd + :ol_quantity, \
             s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + :is_remote \
             WHERE s_w_id = :supply_w_id AND s_i_id = :i_id;\n\
             INSERT INTO order_line VALUES (:d_next_o_id, :d_id, :w_id, :line, :i_id, \
             :supply_w_id, NULL, :ol_quantity, :ol_amount, :s_dist);\n\
             \\endif\n\
             \\endif\n\
             \\if :unused\n\
             ROLLBACK;\n\
             \\else\n\
             COMMIT;\n\
             \\endif\n"
        )
    }

    fn draw_payment(&self) -> String {
        format!(
            "{}\
             \\set d_id random(1, {DISTRICTS})\n\
             \\set elsewhere :scale > 1 and random(1, 100) <= 15\n\
             \\set c_w_id case when :elsewhere \
             then (:w_id - 1 + random(1, :scale - 1)) % :scale + 1 else :w_id end\n\
             \\set c_d_id case when :elsewhere then random(1, {DISTRICTS}) else :d_id end\n\
             \\set h_amount random(100, 500000) / 100.0\n\
             {}",
            self.terminal(),
            draw_customer()
        )
    }

    fn call_payment(&self) -> String {
        let arguments = ":w_id, :d_id, :c_w_id, :c_d_id, :has_name, :c_id, :c_last, :h_amount";
        format!("{}{HAS_NAME}{}", self.draw_payment(), call(self.sql, "payment", arguments))
    }

    fn payment(&self) -> String {
        let draw = self.draw_payment();
        let text = |variable: &str| self.sql.as_text(variable);
        let ids = [":c_id", ":c_d_id", ":c_w_id", ":d_id", ":w_id", ":h_amount"].map(text);
        let data = ids.map(|id| format!("{id}, ' '")).join(", ");
        let names = [":w_name", ":d_name"].map(text).join(", '    ', ");
        let of = "c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :c_id";
        let update = "UPDATE customer SET c_balance = c_balance - :h_amount, \
                      c_ytd_payment = c_ytd_payment + :h_amount, c_payment_cnt = c_payment_cnt + 1";
        format!(
            "{draw}\
             BEGIN;\n\
             UPDATE warehouse SET w_ytd = w_ytd + :h_amount WHERE w_id = :w_id;\n\
             SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse \
             WHERE w_id = :w_id \\gset\n\
             UPDATE district SET d_ytd = d_ytd + :h_amount WHERE d_w_id = :w_id AND d_id = :d_id;\n\
             SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district \
             WHERE d_w_id = :w_id AND d_id = :d_id \\gset\n\
             {FIND}\
             SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
             c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since, \
             c_credit = 'BC' AS bad FROM customer WHERE {of} FOR UPDATE \\gset\n\
             \\if :bad\n\
             SELECT c_data FROM customer WHERE {of};\n\
             {update}, c_data = SUBSTR(CONCAT({data}, c_data), 1, 500) WHERE {of};\n\
             \\else\n\
             {update} WHERE {of};\n\
             \\endif\n\
             INSERT INTO history VALUES (:c_id, :c_d_id, :c_w_id, :d_id, :w_id, \
             CURRENT_TIMESTAMP, :h_amount, CONCAT({names}));\n\
             COMMIT;\n"
        )
    }

    fn draw_status(&self) -> String {
        let (terminal, customer) = (self.terminal(), draw_customer());
        let district = format!("\\set c_d_id random(1, {DISTRICTS})\n");
        format!("{terminal}\\set c_w_id :w_id\n{district}{customer}")
    }

    fn call_order_status(&self) -> String {
        let arguments = ":c_w_id, :c_d_id, :has_name, :c_id, :c_last";
        format!("{}{HAS_NAME}{}", self.draw_status(), call(self.sql, "order_status", arguments))
    }

    fn order_status(&self) -> String {
        let draw = self.draw_status();
        format!(
            "{draw}\
             BEGIN;\n\
             {FIND}\
             SELECT c_balance, c_first, c_middle, c_last FROM customer \
             WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :c_id;\n\
             SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = :c_w_id \
             AND o_d_id = :c_d_id AND o_c_id = :c_id ORDER BY o_id DESC LIMIT 1 \\gset\n\
             SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
             FROM order_line WHERE ol_w_id = :c_w_id AND ol_d_id = :c_d_id AND ol_o_id = :o_id;\n\
             COMMIT;\n"
        )
    }

    fn draw_delivery(&self) -> String {
        format!("{}\\set carrier_id random(1, 10)\n", self.terminal())
    }

    fn call_delivery(&self) -> String {
        self.draw_delivery() + &call(self.sql, "delivery", ":w_id, :carrier_id")
    }

    fn delivery(&self) -> String {
        let draw = self.draw_delivery();
        format!(
            "{draw}\
             BEGIN;\n\
             \\set d_id 0\n\
             \\if :d_id < {DISTRICTS}\n\
             \\set d_id :d_id + 1\n\
             \\set no_o_id 0\n\
             SELECT no_o_id FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id \
             ORDER BY no_o_id LIMIT 1 FOR UPDATE \\aset\n\
             \\if :no_o_id > 0\n\
             DELETE FROM new_order \
             WHERE no_w_id = :w_id AND no_d_id = :d_id AND no_o_id = :no_o_id;\n\
             SELECT o_c_id FROM orders \
             WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :no_o_id FOR UPDATE \\gset\n\
             UPDATE orders SET o_carrier_id = :carrier_id \
             WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :no_o_id;\n\
             UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP \
             WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :no_o_id;\n\
             SELECT SUM(ol_amount) AS ol_total FROM order_line \
             WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :no_o_id \\gset\n\
             UPDATE customer SET c_balance = c_balance + :ol_total, \
             c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :o_c_id;\n\
             \\endif\n\
             \\endif\n\
             COMMIT;\n"
        )
    }

    fn draw_level(&self) -> String {
        format!("{}\\set threshold random(10, 20)\n", self.terminal())
    }

    fn call_stock_level(&self) -> String {
        let arguments = ":w_id, :terminal_d_id, :threshold";
        self.draw_level() + &call(self.sql, "stock_level", arguments)
    }

    fn stock_level(&self) -> String {
        let draw = self.draw_level();
        format!(
            "{draw}\
             BEGIN;\n\
             SELECT d_next_o_id FROM district \
             WHERE d_w_id = :w_id AND d_id = :terminal_d_id \\gset\n\
             \\set oldest :d_next_o_id - 20\n\
             SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
             WHERE ol_w_id = :w_id AND ol_d_id = :terminal_d_id AND ol_o_id < :d_next_o_id \
             AND ol_o_id >= :oldest AND s_w_id = :w_id AND s_i_id = ol_i_id \
             AND s_quantity < :threshold;\n\
             COMMIT;\n"
        )
    }
}
