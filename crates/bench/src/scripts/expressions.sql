-- every operator, function and distribution
\set aid random(1, 100000 * :scale)
\set g random_gaussian(1, 100000, 2.5)
\set e random_exponential(1, 100000, 3.0)
\set z random_zipfian(1, 100000, 1.07)
\set h abs(hash(:aid)) % 100000 + 1
\set f hash_fnv1a(:aid, 5) # hash_murmur2(:aid)
\set p permute(:aid - 1, 100000, 7) + 1
\set d sqrt(abs(-:g)) * pi() / ln(exp(1.5)) + power(2, 0.5)
\set b (:g > :e and not :z = 1) or :h is null
\set c case when :b then greatest(1, :p, 3) when :d < 2.5 then least(:z, 9) else mod(17, 5) end
\set i int(:d) << 2 | 1 & 3
SELECT abalance, :i::int, :c::int FROM pgbench_accounts WHERE aid = :p;
