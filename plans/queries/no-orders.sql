-- Customers who never ordered.
SELECT id, name FROM customers
WHERE NOT EXISTS (SELECT 1 FROM orders WHERE orders.customer = customers.id)
