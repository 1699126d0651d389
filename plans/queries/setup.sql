-- A shop with 1,000 customers, 500 products, 20,000 orders and 60,000 items in them. All values
-- follow from row numbers, so every system has the same data.
CREATE TABLE digits (d int);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);

CREATE TABLE customers (
    id int PRIMARY KEY,
    name varchar(40) NOT NULL,
    country char(2) NOT NULL
);
INSERT INTO customers
SELECT n, concat('customer ', n),
       CASE n % 7 WHEN 0 THEN 'AT' WHEN 1 THEN 'BR' WHEN 2 THEN 'CA' WHEN 3 THEN 'DE'
                  WHEN 4 THEN 'EG' WHEN 5 THEN 'FI' ELSE 'GR' END
FROM (SELECT a.d + 10 * b.d + 100 * c.d AS n FROM digits a, digits b, digits c) numbers;

CREATE TABLE products (
    id int PRIMARY KEY,
    name varchar(40) NOT NULL,
    category int NOT NULL,
    weight double precision NOT NULL,
    price numeric(10, 2) NOT NULL
);
INSERT INTO products
SELECT n, concat('product ', n), n % 23, 0.1 * (n % 97) + 0.05, 1.25 * (n % 89) + 0.99
FROM (SELECT a.d + 10 * b.d + 100 * c.d AS n FROM digits a, digits b, digits c) numbers
WHERE n < 500;

CREATE TABLE orders (
    id int PRIMARY KEY,
    customer int NOT NULL,
    placed int NOT NULL,
    state varchar(10) NOT NULL,
    note varchar(40)
);
INSERT INTO orders
SELECT n, (n * 37) % 990, n % 730,
       CASE WHEN n % 11 = 0 THEN 'returned' WHEN n % 5 = 0 THEN 'open' ELSE 'shipped' END,
       CASE WHEN n % 3 = 0 THEN concat('note ', n % 13) END
FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
      FROM digits a, digits b, digits c, digits e, digits f WHERE f.d < 2) numbers;

CREATE TABLE items (
    order_id int NOT NULL,
    line int NOT NULL,
    product int NOT NULL,
    quantity int NOT NULL,
    PRIMARY KEY (order_id, line)
);
INSERT INTO items
SELECT orders.id, digits.d, (orders.id * 13 + digits.d * 101) % 500, 1 + (orders.id + digits.d) % 4
FROM orders, digits WHERE digits.d < 3;

CREATE INDEX orders_customer ON orders (customer);
CREATE INDEX orders_placed ON orders (placed);
CREATE INDEX items_product ON items (product);
