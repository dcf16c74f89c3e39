\set key random(1, :rows)
UPDATE test_rows SET body = format('%-2000s', 'Y') WHERE id = :key;
