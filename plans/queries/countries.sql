-- The customers of each country as one text, as MySQL and MariaDB write it.
SELECT country, group_concat(name ORDER BY id SEPARATOR ',') AS names
FROM customers GROUP BY country
