INSERT INTO customer (name, notes)
SELECT 'customer ' || value, printf('%-350s', 'n') FROM generate_series(1, :rows);

INSERT INTO account (balance, details)
SELECT 1000, printf('%-350s', 'd') FROM generate_series(1, :rows);

INSERT INTO item (price, stock, description)
SELECT value % 90 + 10, 100, printf('%-350s', 'i') FROM generate_series(1, :rows);

INSERT INTO order_line (item_id, quantity, state, remarks)
SELECT value % :rows + 1, value % 5 + 1, 'open', printf('%-350s', 'r') FROM generate_series(1, 4 * :rows);
