INSERT INTO warehouse (id, name, year_to_date) VALUES (1, 'warehouse', 0);

INSERT INTO district (id, name, year_to_date, next_order)
SELECT value, 'district', 0, :customers + 1 FROM generate_series(1, :districts);

INSERT INTO item (id, price, data)
SELECT value, value % 100 + 1, printf('%-88s', 'item') FROM generate_series(0, :items / 100);

INSERT INTO stock (id, quantity, sold, data)
SELECT value, 50, 0, printf('%-316s', 'stock') FROM generate_series(1, :items);

-- 7919 and 1789 are primes: customers in another order than their names, orders in another than their customers.
INSERT INTO customer (id, last_name, first_name, balance, payments, data)
SELECT d.id * 1000000 + value, d.id * 10000 + value * 7919 % :names, printf('%-16d', value), -10, 1,
       printf('%-536s', 'customer')
FROM district AS d, generate_series(1, :customers);

INSERT INTO history (customer_id, warehouse, amount, data)
SELECT id, printf('%-10s', 'w'), 10, printf('%-40s', 'history') FROM customer ORDER BY id;

-- The last three in ten are not delivered yet.
INSERT INTO orders (id, customer_id, carrier, lines, entered)
SELECT d.id * 10000000 + value, d.id * 1000000 + value * 1789 % :customers + 1,
       CASE WHEN value * 10 <= :customers * 7 THEN 1 END, 10, printf('%-15s', 'now')
FROM district AS d, generate_series(1, :customers);

INSERT INTO new_orders (id) SELECT id FROM orders WHERE carrier IS NULL;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time.
INSERT INTO order_line (order_id, line, item_id, supplier, amount, delivered, data)
SELECT o.id, value, (o.id * 10 + value) % 2147483648 * 2654435761 % 4294967296 % :items + 1, printf('%-11s', 'w'), 5,
       CASE WHEN o.carrier IS NOT NULL THEN 1 END, printf('%-38s', 'line')
FROM orders AS o, generate_series(1, 10);

-- Made last: to load into them in random order takes long.
CREATE INDEX customer_name ON customer (last_name, first_name);
CREATE INDEX history_customer ON history (customer_id, warehouse);
CREATE INDEX orders_customer ON orders (customer_id, id);
CREATE INDEX order_line_item ON order_line (item_id, supplier);
