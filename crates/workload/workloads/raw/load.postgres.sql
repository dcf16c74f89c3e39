INSERT INTO raw_blocks (id, body)
SELECT value, rpad('X', 7000) FROM generate_series(1, :rows) AS value;
