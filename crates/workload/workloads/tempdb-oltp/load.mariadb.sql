-- A char(2000): one letter, padded with blanks. With their keys, so that the next key is the next number.
INSERT INTO test_rows (id, body)
SELECT seq, RPAD('X', 2000, ' ') FROM seq_1_to_1000000000 WHERE seq <= :rows;
