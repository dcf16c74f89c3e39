INSERT INTO test_rows (body) VALUES (format('%-2000s', 'X'));
