INSERT INTO raw_blocks (id, body)
SELECT seq, RPAD('X', 7000, ' ') FROM seq_1_to_1000000000 WHERE seq <= :rows;
