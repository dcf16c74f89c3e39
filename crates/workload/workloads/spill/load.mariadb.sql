-- Multiplying by Knuth's constant (2^32 over the golden ratio) scatters the keys, the same way every time.
INSERT INTO facts (id, sort_key, code, body)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, seq * 2654435761 % 4294967296, seq * 40503 % :rows, RPAD(seq, 370, ' ')
FROM numbers;

INSERT INTO labels (code, label)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq - 1, RPAD(seq, 100, ' ') FROM numbers;
