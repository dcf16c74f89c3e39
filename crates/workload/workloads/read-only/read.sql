\set key random(1, :rows)
SELECT id, body FROM test_rows WHERE id = :key;
