INSERT INTO warehouse (id, name, year_to_date) VALUES (1, 'warehouse', 0);

INSERT INTO district (id, name, year_to_date, next_order)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :districts)
SELECT seq, 'district', 0, :customers + 1 FROM numbers;

INSERT INTO item (id, price, data)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :items DIV 100 + 1)
SELECT seq - 1, (seq - 1) % 100 + 1, RPAD('item', 88, ' ') FROM numbers;

INSERT INTO stock (id, quantity, sold, data)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :items)
SELECT seq, 50, 0, RPAD('stock', 316, ' ') FROM numbers;

-- 7919 and 1789 are primes: customers in another order than their names, orders in another than their customers.
INSERT INTO customer (id, last_name, first_name, balance, payments, data)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :customers)
SELECT d.id * 1000000 + seq, d.id * 10000 + seq * 7919 % :names, RPAD(seq, 16, ' '), -10, 1, RPAD('customer', 536, ' ')
FROM district AS d JOIN numbers;

INSERT INTO history (customer_id, warehouse, amount, data)
SELECT id, RPAD('w', 10, ' '), 10, RPAD('history', 40, ' ') FROM customer ORDER BY id;

-- The last three in ten are not delivered yet.
INSERT INTO orders (id, customer_id, carrier, `lines`, entered)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :customers)
SELECT d.id * 10000000 + seq, d.id * 1000000 + seq * 1789 % :customers + 1,
       CASE WHEN seq * 10 <= :customers * 7 THEN 1 END, 10, RPAD('now', 15, ' ')
FROM district AS d JOIN numbers;

INSERT INTO new_orders (id) SELECT id FROM orders WHERE carrier IS NULL;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time.
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < 10)
SELECT o.id, seq, (o.id * 10 + seq) % 2147483648 * 2654435761 % 4294967296 % :items + 1, RPAD('w', 11, ' '), 5,
       CASE WHEN o.carrier IS NOT NULL THEN 1 END, RPAD('line', 38, ' ')
FROM orders AS o JOIN numbers;

-- Made last: to load into them in random order takes long.
CREATE INDEX customer_name ON customer (last_name, first_name);
CREATE INDEX history_customer ON history (customer_id, warehouse);
CREATE INDEX orders_customer ON orders (customer_id, id);
CREATE INDEX order_line_item ON order_line (item_id, supplier);
