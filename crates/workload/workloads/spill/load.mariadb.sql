-- Multiplying by Knuth's constant (2^32 over the golden ratio) scatters the keys, the same way every time.
INSERT INTO facts (id, sort_key, code, body)
SELECT seq, seq * 2654435761 % 4294967296, seq * 40503 % :rows, RPAD(seq, 370, ' ')
FROM seq_1_to_1000000000 WHERE seq <= :rows;

INSERT INTO labels (code, label)
SELECT seq - 1, RPAD(seq, 100, ' ') FROM seq_1_to_1000000000 WHERE seq <= :rows;
