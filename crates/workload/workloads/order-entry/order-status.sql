-- What became of a customer's last order: 4 statements.
\set district random(1, :districts)
\set customer ((random(0, :a_customers) | random(1, :customers)) + 123) % :customers + 1
\set customer :district * 1000000 + :customer
\set name ((random(0, :a_names) | random(0, :names - 1)) + 45) % :names
\set name :district * 10000 + :name
\set by_name random(1, 100)
BEGIN;
\if :by_name <= 60
SELECT MAX(balance), MAX(data) FROM customer WHERE last_name = :name;
\else
SELECT balance, data FROM customer WHERE id = :customer;
\endif
SELECT COUNT(*), MAX(amount) FROM order_line
WHERE order_id = (SELECT MAX(id) FROM orders WHERE customer_id = :customer);
COMMIT;
