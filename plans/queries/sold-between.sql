-- Orders and pieces sold between two days.
SELECT count(DISTINCT orders.id) AS orders, sum(items.quantity) AS pieces
FROM orders JOIN items ON items.order_id = orders.id
WHERE orders.placed BETWEEN {first} AND {last}
