-- The numbers that the rows are made from. In their order, so that the keys are those of other engines.
\set numbers greatest(20 * :customers, 8 * :accounts, 2 * :securities, :trades, 60)
CREATE TABLE #series (value bigint NOT NULL PRIMARY KEY);
INSERT INTO #series WITH (TABLOCK) (value)
SELECT TOP (:numbers) ROW_NUMBER() OVER (ORDER BY (SELECT NULL))
FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c;

INSERT INTO broker WITH (TABLOCK) (name)
SELECT CONCAT('broker ', value) FROM #series WHERE value <= :customers / 100 + 1 ORDER BY value;

INSERT INTO customer WITH (TABLOCK) (tax_id, name, tier, address)
SELECT RIGHT(CONCAT('000000000000', value), 12), CONCAT('customer ', value), value % 3 + 1, 'street'
FROM #series WHERE value <= :customers ORDER BY value;

INSERT INTO account WITH (TABLOCK) (customer_id, broker_id, name, balance)
SELECT value % :customers + 1, value % (:customers / 100 + 1) + 1, 'account', 1000000
FROM #series WHERE value <= :accounts ORDER BY value;

INSERT INTO company WITH (TABLOCK) (name, industry, description)
SELECT CONCAT('company ', value), value % 100, 'description'
FROM #series WHERE value <= :securities ORDER BY value;

INSERT INTO security WITH (TABLOCK) (symbol, company_id, name, issued)
SELECT CONCAT('S', RIGHT(CONCAT('0000000', value), 7)), value, 'security', 1000000
FROM #series WHERE value <= :securities ORDER BY value;

INSERT INTO last_trade WITH (TABLOCK) (security_id, price, open_price, volume)
SELECT value, value % 90 + 10, value % 90 + 10, 0 FROM #series WHERE value <= :securities;

-- A quarter of a year of trading days.
INSERT INTO daily_market WITH (TABLOCK) (security_id, day, [close], volume)
SELECT s.id, d.value, (s.id + d.value) % 90 + 10, 1000
FROM security AS s CROSS JOIN #series AS d WHERE d.value <= 60;

INSERT INTO news WITH (TABLOCK) (company_id, body)
SELECT value % :securities + 1, 'news' FROM #series WHERE value <= 2 * :securities ORDER BY value;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time. Written as it
-- is, T-SQL takes it for a decimal.
INSERT INTO watch WITH (TABLOCK) (customer_id, security_id)
SELECT DISTINCT value % :customers + 1, value * CAST(2654435761 AS bigint) % :securities + 1
FROM #series WHERE value <= 20 * :customers;

INSERT INTO holding WITH (TABLOCK) (account_id, security_id, quantity)
SELECT DISTINCT value % :accounts + 1, value * CAST(2654435761 AS bigint) % :securities + 1, 100
FROM #series WHERE value <= 8 * :accounts;

INSERT INTO trade WITH (TABLOCK)
    (account_id, security_id, state, is_sale, quantity, bid_price, price, fee, executor, desk)
SELECT value * CAST(2654435761 AS bigint) % :accounts + 1, value * 40503 % :securities + 1, 'completed', value % 2,
       100, value % 90 + 10, value % 90 + 10, 5, 'executor', 0
FROM #series WHERE value <= :trades ORDER BY value;

INSERT INTO trade_history WITH (TABLOCK) (trade_id, state, at)
SELECT id, 'submitted', id FROM trade;

INSERT INTO trade_history WITH (TABLOCK) (trade_id, state, at)
SELECT id, 'completed', id + 1 FROM trade;

INSERT INTO settlement WITH (TABLOCK) (trade_id, kind, amount)
SELECT id, 'cash', quantity * price FROM trade;

INSERT INTO cash_transaction WITH (TABLOCK) (trade_id, amount, name)
SELECT id, quantity * price, 'settled' FROM trade;

DROP TABLE #series;
