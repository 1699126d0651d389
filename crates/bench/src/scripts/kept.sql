-- results that become variables
\set aid random(1, 100000 * :scale)
SELECT bid AS bid, abalance AS balance FROM pgbench_accounts WHERE aid = :aid \gset a_
SELECT bbalance FROM pgbench_branches WHERE bid = :a_bid \aset
\set sum :a_balance + :bbalance
SELECT :sum::int;
