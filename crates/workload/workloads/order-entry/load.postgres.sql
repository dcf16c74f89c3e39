INSERT INTO warehouse (id, name, year_to_date) VALUES (1, 'warehouse', 0);

INSERT INTO district (id, name, year_to_date, next_order)
SELECT value, 'district', 0, :customers + 1 FROM generate_series(1, :districts) AS value;

INSERT INTO item (id, price, data)
SELECT value, value % 100 + 1, rpad('item', 88) FROM generate_series(0, :items / 100) AS value;

INSERT INTO stock (id, quantity, sold, data)
SELECT value, 50, 0, rpad('stock', 316) FROM generate_series(1, :items) AS value;

-- 7919 and 1789 are primes: customers in another order than their names, orders in another than their customers.
INSERT INTO customer (id, last_name, first_name, balance, payments, data)
SELECT d.id * 1000000 + value, d.id * 10000 + value * 7919 % :names, rpad(value::text, 16), -10, 1,
       rpad('customer', 536)
FROM district AS d, generate_series(1, :customers) AS value;

INSERT INTO history (customer_id, warehouse, amount, data)
SELECT id, rpad('w', 10), 10, rpad('history', 40) FROM customer ORDER BY id;

-- The last three in ten are not delivered yet.
INSERT INTO orders (id, customer_id, carrier, lines, entered)
SELECT d.id * 10000000 + value, d.id * 1000000 + value * 1789 % :customers + 1,
       CASE WHEN value * 10 <= :customers * 7 THEN 1 END, 10, rpad('now', 15)
FROM district AS d, generate_series(1, :customers) AS value;

INSERT INTO new_orders (id) SELECT id FROM orders WHERE carrier IS NULL;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time.
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT o.id, value, (o.id::bigint * 10 + value) % 2147483648 * 2654435761 % 4294967296 % :items + 1, rpad('w', 11), 5,
       CASE WHEN o.carrier IS NOT NULL THEN 1 END, rpad('line', 38)
FROM orders AS o, generate_series(1, 10) AS value;

-- Made last: to load into them in random order takes long.
CREATE INDEX customer_name ON customer (last_name, first_name);
CREATE INDEX history_customer ON history (customer_id, warehouse);
CREATE INDEX orders_customer ON orders (customer_id, id);
CREATE INDEX order_line_item ON order_line (item_id, supplier);
