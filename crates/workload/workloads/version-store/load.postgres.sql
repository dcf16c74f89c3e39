INSERT INTO customer (name, notes)
SELECT 'customer ' || value, rpad('n', 350) FROM generate_series(1, :rows) AS value;

INSERT INTO account (balance, details)
SELECT 1000, rpad('d', 350) FROM generate_series(1, :rows) AS value;

INSERT INTO item (price, stock, description)
SELECT value % 90 + 10, 100, rpad('i', 350) FROM generate_series(1, :rows) AS value;

INSERT INTO order_line (item_id, quantity, state, remarks)
SELECT value % :rows + 1, value % 5 + 1, 'open', rpad('r', 350) FROM generate_series(1, 4 * :rows) AS value;
