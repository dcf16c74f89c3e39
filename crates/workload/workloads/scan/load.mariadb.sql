-- 19 has no common divisor with numbers of devices such as 400, so that rows of one device are that many rows apart.
INSERT INTO readings (id, device, value, body)
SELECT seq, seq * 19 % :devices, seq, RPAD(seq, 980, ' ')
FROM seq_1_to_1000000000 WHERE seq <= :rows;
