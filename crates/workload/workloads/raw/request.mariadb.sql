\set key random(1, :rows)
\set draw random(1, 100)
\if :draw <= :read_percent
SELECT id, body FROM raw_blocks WHERE id = :key;
\else
UPDATE raw_blocks SET body = RPAD('Y', 7000, ' ') WHERE id = :key;
\endif
