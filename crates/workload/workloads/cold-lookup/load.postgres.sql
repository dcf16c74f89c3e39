INSERT INTO outer_rows (id, dummy)
SELECT value, 0 FROM generate_series(1, :rows) AS value;

-- In an order that is scattered, the same way every time: the pages of neighbouring keys are not
-- neighbours, so that the system's reading ahead is of no use.
INSERT INTO inner_rows (id, big_dummy)
SELECT value, rpad('0', 5000) FROM generate_series(1, :rows) AS value ORDER BY md5(value::text);
