INSERT INTO customer (id, name, notes)
SELECT seq, CONCAT('customer ', seq), RPAD('n', 350, ' ') FROM seq_1_to_1000000000 WHERE seq <= :rows;

INSERT INTO account (id, balance, details)
SELECT seq, 1000, RPAD('d', 350, ' ') FROM seq_1_to_1000000000 WHERE seq <= :rows;

INSERT INTO item (id, price, stock, description)
SELECT seq, seq % 90 + 10, 100, RPAD('i', 350, ' ') FROM seq_1_to_1000000000 WHERE seq <= :rows;

INSERT INTO order_line (id, item_id, quantity, state, remarks)
SELECT seq, seq % :rows + 1, seq % 5 + 1, 'open', RPAD('r', 350, ' ')
FROM seq_1_to_1000000000 WHERE seq <= 4 * :rows;
