INSERT INTO outer_rows (id, dummy)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, 0 FROM numbers;

INSERT INTO inner_rows (id, big_dummy)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, RPAD('0', 8200, ' ') FROM numbers;
