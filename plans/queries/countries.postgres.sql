-- The customers of each country as one text.
SELECT country, string_agg(name, ',' ORDER BY id) AS names FROM customers GROUP BY country
