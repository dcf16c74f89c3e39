INSERT INTO outer_rows (id, dummy)
SELECT seq, 0 FROM seq_1_to_1000000000 WHERE seq <= :rows;

INSERT INTO inner_rows (id, big_dummy)
SELECT seq, RPAD('0', 8200, ' ') FROM seq_1_to_1000000000 WHERE seq <= :rows;
