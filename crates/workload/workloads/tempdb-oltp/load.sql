-- A char(2000): one letter, padded with blanks.
INSERT INTO test_rows (body)
SELECT format('%-2000s', 'X') FROM generate_series(1, :rows);
