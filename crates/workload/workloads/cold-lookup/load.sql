INSERT INTO outer_rows (dummy)
SELECT 0 FROM generate_series(1, :rows);

INSERT INTO inner_rows (big_dummy)
SELECT printf('%-5000s', '0') FROM generate_series(1, :rows);
