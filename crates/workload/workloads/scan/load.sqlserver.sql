INSERT INTO readings WITH (TABLOCK) (id, device, value, body)
SELECT value, value * 19 % :devices, value, value
FROM (SELECT TOP (:rows) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS value
      FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c) AS series
ORDER BY value;
