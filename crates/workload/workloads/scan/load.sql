-- 19 has no common divisor with numbers of devices such as 400, so that rows of one device are that many rows apart.
INSERT INTO readings (id, device, value, body)
SELECT value, value * 19 % :devices, value, printf('%-980s', value)
FROM generate_series(1, :rows);
