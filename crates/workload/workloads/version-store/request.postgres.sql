-- The 40 statements of request.sql, and one that writes what row versions take.
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
-- Rows that a request changes: one customer, three items, two accounts, and eight ranges.
\set changed 6 + 8 * :range

-- PostgreSQL keeps old versions in the tables themselves. What SQL Server writes to temporary files for
-- them is written here by hand: rows of 8,000 bytes in a temporary table, 0 of them where the experiment
-- keeps no versions.
\if :operation = 0
    CREATE TEMP TABLE version (id INTEGER NOT NULL, body TEXT NOT NULL) PARTITION BY HASH (id);
    ALTER TABLE version ALTER COLUMN body SET STORAGE PLAIN;
\elif :operation % :requests_kept = 0
    TRUNCATE version;
\endif

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
SELECT pg_advisory_lock(1);
UPDATE item SET stock = stock - 1 WHERE id = :item_1;
UPDATE item SET stock = stock - 1 WHERE id = :item_2;
UPDATE item SET stock = stock - 1 WHERE id = :item_3;
SELECT balance FROM account WHERE id = :account;
UPDATE account SET balance = balance - :amount WHERE id = :account;
UPDATE account SET balance = balance + :amount WHERE id = :customer;
SELECT balance FROM account WHERE id = :customer;
\sleep :lock_hold_us us
SELECT pg_advisory_unlock(1);

INSERT INTO version (id, body)
SELECT value, rpad('v', 8000)
FROM generate_series(1, (current_setting('dbstow.version_bytes_per_row')::bigint * :changed + 7999) / 8000) AS value;

-- What the user is shown: 5 statements.
SELECT price, stock FROM item WHERE id = :item_1;
SELECT price, stock FROM item WHERE id = :item_2;
SELECT price, stock FROM item WHERE id = :item_3;
SELECT item_id, quantity, state FROM order_line WHERE id = :line_1;
SELECT name, visits FROM customer WHERE id = :customer;

COMMIT;

\sleep :think_ms ms
