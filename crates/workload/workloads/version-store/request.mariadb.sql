-- The 40 statements of request.sql. What row versions take, InnoDB writes to its undo logs by itself.
\set customer random_zipfian(1, :rows, 1.1)
\set account random(1, :rows)
\set item_1 random(1, :rows)
\set item_2 random(1, :rows)
\set item_3 random(1, :rows)
\set line_1 random(1, 4 * :rows - :range)
\set line_2 random(1, 4 * :rows - :range)
\set line_3 random(1, 4 * :rows - :range)
\set line_4 random(1, 4 * :rows - :range)
\set amount random(1, 100)

BEGIN;

-- Who asks, and what is there: 8 statements.
SELECT name, visits FROM customer WHERE id = :customer;
SELECT notes FROM customer WHERE id = :customer;
SELECT balance FROM account WHERE id = :customer;
SELECT details FROM account WHERE id = :account;
SELECT price, stock, description FROM item WHERE id = :item_1;
SELECT price, stock, description FROM item WHERE id = :item_2;
SELECT price, stock, description FROM item WHERE id = :item_3;
UPDATE customer SET visits = visits + 1 WHERE id = :customer;

-- The order's lines are read, changed and read again: 16 statements.
SELECT count(*), sum(quantity) FROM order_line WHERE id >= :line_1 AND id < :line_1 + :range;
UPDATE order_line SET quantity = quantity % 5 + 1 WHERE id >= :line_1 AND id < :line_1 + :range;
UPDATE order_line SET state = 'booked' WHERE id >= :line_1 AND id < :line_1 + :range;
SELECT max(state), max(remarks) FROM order_line WHERE id >= :line_1 AND id < :line_1 + :range;
SELECT count(*), sum(quantity) FROM order_line WHERE id >= :line_2 AND id < :line_2 + :range;
UPDATE order_line SET quantity = quantity % 5 + 1 WHERE id >= :line_2 AND id < :line_2 + :range;
UPDATE order_line SET state = 'booked' WHERE id >= :line_2 AND id < :line_2 + :range;
SELECT max(state), max(remarks) FROM order_line WHERE id >= :line_2 AND id < :line_2 + :range;
SELECT count(*), sum(quantity) FROM order_line WHERE id >= :line_3 AND id < :line_3 + :range;
UPDATE order_line SET quantity = quantity % 5 + 1 WHERE id >= :line_3 AND id < :line_3 + :range;
UPDATE order_line SET state = 'booked' WHERE id >= :line_3 AND id < :line_3 + :range;
SELECT max(state), max(remarks) FROM order_line WHERE id >= :line_3 AND id < :line_3 + :range;
SELECT count(*), sum(quantity) FROM order_line WHERE id >= :line_4 AND id < :line_4 + :range;
UPDATE order_line SET quantity = quantity % 5 + 1 WHERE id >= :line_4 AND id < :line_4 + :range;
UPDATE order_line SET state = 'booked' WHERE id >= :line_4 AND id < :line_4 + :range;
SELECT max(state), max(remarks) FROM order_line WHERE id >= :line_4 AND id < :line_4 + :range;

-- Stock and balances change under the application's lock; what else the application does while it holds
-- it is the wait: 9 statements.
SELECT GET_LOCK('dbstow', 86400);
UPDATE item SET stock = stock - 1 WHERE id = :item_1;
UPDATE item SET stock = stock - 1 WHERE id = :item_2;
UPDATE item SET stock = stock - 1 WHERE id = :item_3;
SELECT balance FROM account WHERE id = :account;
UPDATE account SET balance = balance - :amount WHERE id = :account;
UPDATE account SET balance = balance + :amount WHERE id = :customer;
SELECT balance FROM account WHERE id = :customer;
\sleep :lock_hold_us us
SELECT RELEASE_LOCK('dbstow');

-- What the user is shown: 5 statements.
SELECT price, stock FROM item WHERE id = :item_1;
SELECT price, stock FROM item WHERE id = :item_2;
SELECT price, stock FROM item WHERE id = :item_3;
SELECT item_id, quantity, state FROM order_line WHERE id = :line_1;
SELECT name, visits FROM customer WHERE id = :customer;

COMMIT;

\sleep :think_ms ms
