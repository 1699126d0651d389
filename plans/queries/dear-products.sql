-- Products that cost more than twice the average of their category.
SELECT products.id, products.price
FROM products
WHERE products.price > 2 * (SELECT avg(other.price) FROM products other
                            WHERE other.category = products.category)
