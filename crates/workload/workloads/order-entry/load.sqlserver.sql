-- The numbers that the rows are made from.
\set numbers greatest(:items, :customers, :districts, 10)
CREATE TABLE #series (value bigint NOT NULL PRIMARY KEY);
INSERT INTO #series WITH (TABLOCK) (value)
SELECT TOP (:numbers) ROW_NUMBER() OVER (ORDER BY (SELECT NULL))
FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c;

INSERT INTO warehouse (id, name, year_to_date) VALUES (1, 'warehouse', 0);

INSERT INTO district WITH (TABLOCK) (id, name, year_to_date, next_order)
SELECT value, 'district', 0, :customers + 1 FROM #series WHERE value <= :districts;

INSERT INTO item WITH (TABLOCK) (id, price, data)
SELECT value - 1, (value - 1) % 100 + 1, 'item' FROM #series WHERE value <= :items / 100 + 1;

INSERT INTO stock WITH (TABLOCK) (id, quantity, sold, data)
SELECT value, 50, 0, 'stock' FROM #series WHERE value <= :items;

-- 7919 and 1789 are primes: customers in another order than their names, orders in another than their customers.
INSERT INTO customer WITH (TABLOCK) (id, last_name, first_name, balance, payments, data)
SELECT d.id * 1000000 + value, d.id * 10000 + value * 7919 % :names, CAST(value AS varchar(16)), -10, 1, 'customer'
FROM district AS d CROSS JOIN #series WHERE value <= :customers;

INSERT INTO history WITH (TABLOCK) (customer_id, warehouse, amount, data)
SELECT id, 'w', 10, 'history' FROM customer ORDER BY id;

-- The last three in ten are not delivered yet.
INSERT INTO orders WITH (TABLOCK) (id, customer_id, carrier, lines, entered)
SELECT d.id * 10000000 + value, d.id * 1000000 + value * 1789 % :customers + 1,
       CASE WHEN value * 10 <= :customers * 7 THEN 1 END, 10, 'now'
FROM district AS d CROSS JOIN #series WHERE value <= :customers;

INSERT INTO new_orders WITH (TABLOCK) (id) SELECT id FROM orders WHERE carrier IS NULL;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time. Written as it
-- stands it would be a decimal number, and 4294967296 too.
INSERT INTO order_line WITH (TABLOCK) (order_id, line, item_id, supplier, amount, delivered, data)
SELECT o.id, value,
       (CAST(o.id AS bigint) * 10 + value) % CAST(2147483648 AS bigint) * CAST(2654435761 AS bigint) % CAST(4294967296 AS bigint) % :items + 1,
       'w', 5, CASE WHEN o.carrier IS NOT NULL THEN 1 END, 'line'
FROM orders AS o CROSS JOIN #series WHERE value <= 10;

-- Made last: to load into them in random order takes long.
CREATE INDEX customer_name ON customer (last_name, first_name);
CREATE INDEX history_customer ON history (customer_id, warehouse);
CREATE INDEX orders_customer ON orders (customer_id, id);
CREATE INDEX order_line_item ON order_line (item_id, supplier);
