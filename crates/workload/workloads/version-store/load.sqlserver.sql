-- The numbers that the rows are made from.
CREATE TABLE #series (value bigint NOT NULL PRIMARY KEY);
INSERT INTO #series WITH (TABLOCK) (value)
SELECT TOP (4 * :rows) ROW_NUMBER() OVER (ORDER BY (SELECT NULL))
FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c;

INSERT INTO customer WITH (TABLOCK) (name, notes)
SELECT CONCAT('customer ', value), 'n' FROM #series WHERE value <= :rows ORDER BY value;

INSERT INTO account WITH (TABLOCK) (balance, details)
SELECT 1000, 'd' FROM #series WHERE value <= :rows;

INSERT INTO item WITH (TABLOCK) (price, stock, description)
SELECT value % 90 + 10, 100, 'i' FROM #series WHERE value <= :rows ORDER BY value;

INSERT INTO order_line WITH (TABLOCK) (item_id, quantity, state, remarks)
SELECT value % :rows + 1, value % 5 + 1, 'open', 'r' FROM #series WHERE value <= 4 * :rows ORDER BY value;

DROP TABLE #series;
