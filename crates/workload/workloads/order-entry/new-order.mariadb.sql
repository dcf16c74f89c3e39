-- A customer orders ten items, the mean of TPC-C's 5 to 15: 47 statements.
\set district random(1, :districts)
\set customer ((random(0, :a_customers) | random(1, :customers)) + 123) % :customers + 1
\set customer :district * 1000000 + :customer
\set item_1 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_2 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_3 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_4 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_5 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_6 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_7 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_8 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_9 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
\set item_10 ((random(0, :a_items) | random(1, :items)) + 4567) % :items + 1
BEGIN;
SELECT balance, data FROM customer WHERE id = :customer;
UPDATE district SET next_order = next_order + 1 WHERE id = :district;
SELECT next_order FROM district WHERE id = :district;
INSERT INTO orders (id, customer_id, carrier, `lines`, entered)
SELECT id * 10000000 + next_order - 1, :customer, NULL, 10, RPAD('now', 15, ' ') FROM district WHERE id = :district;
INSERT INTO new_orders (id) SELECT id * 10000000 + next_order - 1 FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_1 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_1;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_1;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 1, :item_1, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_2 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_2;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_2;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 2, :item_2, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_3 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_3;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_3;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 3, :item_3, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_4 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_4;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_4;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 4, :item_4, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_5 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_5;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_5;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 5, :item_5, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_6 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_6;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_6;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 6, :item_6, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_7 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_7;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_7;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 7, :item_7, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_8 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_8;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_8;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 8, :item_8, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_9 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_9;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_9;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 9, :item_9, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
SELECT price, data FROM item WHERE id = :item_10 DIV 100;
SELECT quantity, data FROM stock WHERE id = :item_10;
UPDATE stock SET quantity = CASE WHEN quantity > 14 THEN quantity - 5 ELSE quantity + 86 END, sold = sold + 5
WHERE id = :item_10;
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT id * 10000000 + next_order - 1, 10, :item_10, RPAD('w', 11, ' '), 5, NULL, RPAD('line', 38, ' ')
FROM district WHERE id = :district;
COMMIT;
