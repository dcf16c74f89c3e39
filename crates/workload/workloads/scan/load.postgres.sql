INSERT INTO readings (id, device, value, body)
SELECT value, value::bigint * 19 % :devices, value, rpad(value::text, 980)
FROM generate_series(1, :rows) AS value;
