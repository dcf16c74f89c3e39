\set key random(1, :rows)
UPDATE #test_rows SET body = 'Y' WHERE id = :key;
