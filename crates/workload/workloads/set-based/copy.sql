\set low random(0, greatest(0, :rows - :range))
INSERT INTO test_rows (body)
SELECT body FROM test_rows WHERE id > :low AND id <= :low + :range;
