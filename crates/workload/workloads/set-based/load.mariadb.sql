-- A char(2000): one letter, padded with blanks. With their keys, so that the next key is the next number.
INSERT INTO test_rows (id, body)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, RPAD('X', 2000, ' ') FROM numbers;
