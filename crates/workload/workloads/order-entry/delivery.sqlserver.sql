-- The oldest new order of each district is delivered: 7 statements.
BEGIN TRANSACTION;
UPDATE orders SET carrier = 5 WHERE id IN
    (SELECT (SELECT MIN(n.id) FROM new_orders AS n WHERE n.id >= d.id * 10000000 AND n.id < (d.id + 1) * 10000000)
     FROM district AS d);
UPDATE order_line SET delivered = 1 WHERE order_id IN
    (SELECT (SELECT MIN(n.id) FROM new_orders AS n WHERE n.id >= d.id * 10000000 AND n.id < (d.id + 1) * 10000000)
     FROM district AS d);
SELECT SUM(amount) FROM order_line WHERE order_id IN
    (SELECT (SELECT MIN(n.id) FROM new_orders AS n WHERE n.id >= d.id * 10000000 AND n.id < (d.id + 1) * 10000000)
     FROM district AS d);
UPDATE customer SET balance = balance + 50 WHERE id IN (SELECT o.customer_id FROM orders AS o WHERE o.id IN
    (SELECT (SELECT MIN(n.id) FROM new_orders AS n WHERE n.id >= d.id * 10000000 AND n.id < (d.id + 1) * 10000000)
     FROM district AS d));
DELETE FROM new_orders WHERE id IN
    (SELECT (SELECT MIN(n.id) FROM new_orders AS n WHERE n.id >= d.id * 10000000 AND n.id < (d.id + 1) * 10000000)
     FROM district AS d);
COMMIT TRANSACTION;
