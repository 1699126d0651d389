CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, city text NOT NULL);
INSERT INTO customers SELECT i, 'customer ' || i, 'city ' || i % 50 FROM generate_series(1, 2000) AS i;
CREATE TABLE orders (id serial PRIMARY KEY, customer int NOT NULL, ordered date NOT NULL, total numeric NOT NULL);
INSERT INTO orders (customer, ordered, total)
SELECT i % 2000 + 1, date '2026-01-01' + i % 300, i % 997 FROM generate_series(1, 20000) AS i;
CREATE INDEX ON orders (customer);
ANALYZE;
