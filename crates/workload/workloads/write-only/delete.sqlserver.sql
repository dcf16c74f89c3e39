\set key random(1, :rows)
DELETE FROM #test_rows WHERE id = :key;
