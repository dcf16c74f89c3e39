-- Multiplying by Knuth's constant (2^32 over the golden ratio) scatters the keys, the same way every time. Written
-- as they are, T-SQL takes numbers above an int for decimals.
INSERT INTO facts WITH (TABLOCK) (sort_key, code, body)
SELECT value * CAST(2654435761 AS bigint) % CAST(4294967296 AS bigint), value * 40503 % :rows, value
FROM (SELECT TOP (:rows) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS value
      FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c) AS series
ORDER BY value;

INSERT INTO labels WITH (TABLOCK) (code, label)
SELECT value - 1, value
FROM (SELECT TOP (:rows) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS value
      FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c) AS series;
