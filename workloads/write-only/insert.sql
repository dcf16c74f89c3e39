INSERT INTO test_rows (body) VALUES (printf('%-2000s', 'X'));
