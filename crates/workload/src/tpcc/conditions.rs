//! The consistency conditions (clause 3.3.2), as queries for exceptions.

use crate::phase::Condition;

/// What the lines of a customer's delivered orders cost.
const DELIVERED: &str = "SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered \
    FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
    WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id";

/// Each condition with what follows FROM in a query for its exceptions. `{delivered}` is
/// [`DELIVERED`].
const CONDITIONS: [(&str, &str); 12] = [
    (
        "a warehouse's payments are those of its districts",
        "warehouse LEFT JOIN \
         (SELECT d_w_id, SUM(d_ytd) AS ytd FROM district GROUP BY d_w_id) d ON d_w_id = w_id \
         WHERE ytd IS NULL OR w_ytd <> ytd",
    ),
    (
        "a district's next order follows its last",
        "district LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last_order FROM orders \
         GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
         (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last_new FROM new_order \
         GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE last_order IS NULL OR d_next_o_id - 1 <> last_order OR d_next_o_id - 1 <> last_new",
    ),
    (
        "no new order is missing between others",
        "(SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id \
         HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) n",
    ),
    (
        "a district has the lines of its orders",
        "(SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS wanted FROM orders GROUP BY o_w_id, o_d_id) o \
         LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS found FROM order_line \
         GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id \
         WHERE found IS NULL OR wanted <> found",
    ),
    (
        "an order without a carrier is a new order",
        "orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
    ),
    (
        "an order has all its lines",
        "orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS found FROM order_line \
         GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE found IS NULL OR o_ol_cnt <> found",
    ),
    (
        "the lines of an order with a carrier are delivered",
        "order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
         WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    ),
    (
        "a warehouse's payments are in the history",
        "warehouse LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) h \
         ON h_w_id = w_id WHERE paid IS NULL OR w_ytd <> paid",
    ),
    (
        "a district's payments are in the history",
        "district LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history \
         GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id \
         WHERE paid IS NULL OR d_ytd <> paid",
    ),
    (
        "a customer's balance is what was delivered, less what was paid",
        "customer LEFT JOIN ({delivered}) o \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN \
         (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history \
         GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
         ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
         WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0)",
    ),
    // At first there are 2,100 in each district, as the specification says; each delivery adds one.
    (
        "an order that is not new was delivered",
        "(SELECT o_w_id, o_d_id, COUNT(*) AS all_orders FROM orders GROUP BY o_w_id, o_d_id) o \
         JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS deliveries FROM customer \
         GROUP BY c_w_id, c_d_id) c ON c_w_id = o_w_id AND c_d_id = o_d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS new_orders FROM new_order \
         GROUP BY no_w_id, no_d_id) n ON no_w_id = o_w_id AND no_d_id = o_d_id \
         WHERE all_orders - COALESCE(new_orders, 0) <> 2100 + deliveries",
    ),
    (
        "a customer's balance and payments are what was delivered",
        "customer LEFT JOIN ({delivered}) o \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         WHERE c_balance + c_ytd_payment <> COALESCE(delivered, 0)",
    ),
];

/// All conditions.
pub(super) fn conditions() -> Vec<Condition> {
    let condition = |(number, (name, from)): (u32, &(&str, &str))| Condition {
        name: format!("condition {number}, {name}"),
        exceptions: format!("SELECT COUNT(*) FROM {}", from.replace("{delivered}", DELIVERED)),
    };
    (1..).zip(&CONDITIONS).map(condition).collect()
}
