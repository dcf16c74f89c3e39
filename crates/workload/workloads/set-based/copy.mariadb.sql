\set low random(0, greatest(0, :rows - :range))
-- In the order of keys. The server reserves keys by powers of two, so that copies have gaps between them; no operation
-- looks for copies.
INSERT INTO test_rows (body)
SELECT body FROM test_rows WHERE id > :low AND id <= :low + :range ORDER BY id;
