-- conditions, and a transaction that is rolled back
\set aid random(1, 100000 * :scale)
\set kind random(1, 3)
\if :kind = 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
\elif :kind = 2
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
ROLLBACK;
\else
SELECT count(*) FROM pgbench_branches;
\endif
