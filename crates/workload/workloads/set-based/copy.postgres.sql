\set low random(0, greatest(0, :rows - :range))
-- In the order of keys, over all parts: the copies get the keys that they get elsewhere.
INSERT INTO test_rows (body)
SELECT body FROM test_rows WHERE id > :low AND id <= :low + :range ORDER BY id;
