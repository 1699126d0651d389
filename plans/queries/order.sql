-- An order by its number.
SELECT id, customer, placed, state FROM orders WHERE id = {id}
