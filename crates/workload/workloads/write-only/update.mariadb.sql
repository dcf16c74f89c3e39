\set key random(1, :rows)
UPDATE test_rows SET body = RPAD('Y', 2000, ' ') WHERE id = :key;
