INSERT INTO raw_blocks (id, body)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, RPAD('X', 7000, ' ') FROM numbers;
