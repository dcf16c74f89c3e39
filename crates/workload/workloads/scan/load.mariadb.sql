-- 19 has no common divisor with numbers of devices such as 400, so that rows of one device are that many rows apart.
INSERT INTO readings (id, device, value, body)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, seq * 19 % :devices, seq, RPAD(seq, 980, ' ')
FROM numbers;
