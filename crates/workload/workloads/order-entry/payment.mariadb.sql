-- A customer pays; in six of ten cases it is found by its last name: 8 or 9 statements.
\set district random(1, :districts)
\set customer ((random(0, :a_customers) | random(1, :customers)) + 123) % :customers + 1
\set customer :district * 1000000 + :customer
\set name ((random(0, :a_names) | random(0, :names - 1)) + 45) % :names
\set name :district * 10000 + :name
\set by_name random(1, 100)
\set amount random(1, 5000)
BEGIN;
UPDATE warehouse SET year_to_date = year_to_date + :amount WHERE id = 1;
SELECT name FROM warehouse WHERE id = 1;
UPDATE district SET year_to_date = year_to_date + :amount WHERE id = :district;
\if :by_name <= 60
SELECT COUNT(*) FROM customer WHERE last_name = :name;
-- The one in the middle: each name has three.
SELECT balance, data FROM customer
WHERE id = (SELECT id FROM customer WHERE last_name = :name ORDER BY first_name LIMIT 1 OFFSET 1);
UPDATE customer AS c
JOIN (SELECT id FROM customer WHERE last_name = :name ORDER BY first_name LIMIT 1 OFFSET 1) AS middle ON middle.id = c.id
SET c.balance = c.balance - :amount, c.payments = c.payments + 1;
\else
SELECT balance, data FROM customer WHERE id = :customer;
UPDATE customer SET balance = balance - :amount, payments = payments + 1 WHERE id = :customer;
\endif
INSERT INTO history (customer_id, warehouse, amount, data)
VALUES (:customer, RPAD('w', 10, ' '), :amount, RPAD('history', 40, ' '));
COMMIT;
