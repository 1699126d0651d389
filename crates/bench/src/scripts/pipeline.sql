-- statements that are sent before an answer is awaited
\set a random(1, 100000 * :scale)
\set b random(1, 100000 * :scale)
\startpipeline
SELECT abalance FROM pgbench_accounts WHERE aid = :a;
SELECT abalance FROM pgbench_accounts WHERE aid = :b;
SELECT abalance FROM pgbench_accounts WHERE aid = :a;
SELECT abalance FROM pgbench_accounts WHERE aid = :b;
SELECT abalance FROM pgbench_accounts WHERE aid = :a;
\endpipeline
