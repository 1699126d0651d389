-- The latest orders of a customer in some state.
SELECT id, placed, note FROM orders
WHERE customer = {customer} AND state = {state}
ORDER BY id DESC
LIMIT 10
