INSERT INTO customer (id, name, notes)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, CONCAT('customer ', seq), RPAD('n', 350, ' ') FROM numbers;

INSERT INTO account (id, balance, details)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, 1000, RPAD('d', 350, ' ') FROM numbers;

INSERT INTO item (id, price, stock, description)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :rows)
SELECT seq, seq % 90 + 10, 100, RPAD('i', 350, ' ') FROM numbers;

INSERT INTO order_line (id, item_id, quantity, state, remarks)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < 4 * :rows)
SELECT seq, seq % :rows + 1, seq % 5 + 1, 'open', RPAD('r', 350, ' ')
FROM numbers;
