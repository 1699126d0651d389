-- What is in an order.
SELECT products.name, items.quantity, items.quantity * products.price AS amount
FROM items JOIN products ON products.id = items.product
WHERE items.order_id = {id}
