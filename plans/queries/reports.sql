-- name: revenue-by-country
SELECT customers.country, count(*) AS orders, sum(items.quantity * products.price) AS revenue
FROM customers
JOIN orders ON orders.customer = customers.id
JOIN items ON items.order_id = orders.id
JOIN products ON products.id = items.product
WHERE orders.state <> 'returned'
GROUP BY customers.country;

-- name: best-products
SELECT products.id, products.name, sum(items.quantity) AS sold
FROM items JOIN products ON products.id = items.product
GROUP BY products.id, products.name
ORDER BY sold DESC, products.id
LIMIT 20;

-- name: weights
-- A floating-point average, whose last digits depend on the order in which rows are added.
SELECT products.category, avg(products.weight) AS average, sum(products.weight) AS total
FROM items JOIN products ON products.id = items.product
GROUP BY products.category;
