-- Pieces sold of one category, day by day, added up.
WITH days AS (
    SELECT orders.placed, sum(items.quantity) AS pieces
    FROM orders
    JOIN items ON items.order_id = orders.id
    JOIN products ON products.id = items.product
    WHERE products.category = {category}
    GROUP BY orders.placed
)
SELECT placed, pieces, sum(pieces) OVER (ORDER BY placed) AS total FROM days
