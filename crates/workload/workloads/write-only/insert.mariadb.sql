INSERT INTO test_rows (body) VALUES (RPAD('X', 2000, ' '));
