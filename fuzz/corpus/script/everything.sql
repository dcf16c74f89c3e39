-- every command and most of the functions
\set a random(1, 100 * :scale)
\set b random_zipfian(1, 100, 1.1)
\set c random_gaussian(1, 100, 2.5) % 7
\set d random_exponential(1, 100, 2.5) / 3.0
\set e abs(-:a) + mod(:b, 5) - greatest(1, 2, 3) * least(4, 5)
\set f hash(:a) & 255 | 1 # 2 << 3 >> 1
\set g case when :a > 5 and not :b = 3 or :c <> 1 then sqrt(2) else pi() end
\set h int(2.5) + double(1) + power(2, 10) + exp(1) + ln(2)
\set i permute(:a, 100) + hash_fnv1a(:a, 1) - hash_murmur2(:b)
\if :a > 50 and :b is not null
\sleep 10 ms
SELECT :a, ':b', $$:c$$, "x:d" FROM t WHERE x = :e::bigint; -- :none
\elif :a >= 1 and :a <= 5
\sleep :a us
\else
SELECT 1;
\if true
\set j (-9223372036854775807 - 1) / -1
\endif
\endif
INSERT INTO t VALUES (:f, :g, /* :none */ :h);
