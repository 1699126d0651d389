-- a statement of several lines, with several rows, and a short rest
\set low random(1, 100000 * :scale - 100)
\set high :low + 99
\sleep 100 us
SELECT aid, abalance -- two of four columns
FROM pgbench_accounts
WHERE aid BETWEEN :low AND :high
ORDER BY abalance;
