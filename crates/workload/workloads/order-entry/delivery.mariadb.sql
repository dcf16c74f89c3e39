-- The oldest new order of each district is delivered: 7 statements. The oldest are a table that is joined: an UPDATE
-- does not look up what is `IN` a subquery, but reads the whole table.
BEGIN;
UPDATE (SELECT MIN(id) AS id FROM new_orders GROUP BY id DIV 10000000) AS oldest
JOIN orders AS o ON o.id = oldest.id
SET o.carrier = 5;
UPDATE (SELECT MIN(id) AS id FROM new_orders GROUP BY id DIV 10000000) AS oldest
JOIN order_line AS l ON l.order_id = oldest.id
SET l.delivered = 1;
SELECT SUM(l.amount) FROM (SELECT MIN(id) AS id FROM new_orders GROUP BY id DIV 10000000) AS oldest
JOIN order_line AS l ON l.order_id = oldest.id;
UPDATE (SELECT MIN(id) AS id FROM new_orders GROUP BY id DIV 10000000) AS oldest
JOIN orders AS o ON o.id = oldest.id
JOIN customer AS c ON c.id = o.customer_id
SET c.balance = c.balance + 50;
DELETE delivered FROM (SELECT MIN(id) AS id FROM new_orders GROUP BY id DIV 10000000) AS oldest
JOIN new_orders AS delivered ON delivered.id = oldest.id;
COMMIT;
