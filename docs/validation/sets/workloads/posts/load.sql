INSERT INTO posts SELECT value * 1000000, printf('%-1000s', '') FROM generate_series(1, :rows);
