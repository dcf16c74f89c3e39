-- How many items of the district's last twenty orders run low: 3 statements.
\set district random(1, :districts)
\set level random(10, 20)
BEGIN;
SELECT COUNT(*) FROM stock WHERE quantity < :level AND id IN
    (SELECT item_id FROM order_line
     WHERE order_id >= (SELECT id * 10000000 + next_order - 20 FROM district WHERE id = :district)
       AND order_id < (SELECT id * 10000000 + next_order FROM district WHERE id = :district));
COMMIT;
