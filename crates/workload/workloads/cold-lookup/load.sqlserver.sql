INSERT INTO outer_rows WITH (TABLOCK) (dummy)
SELECT TOP (:rows) 0
FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c;

INSERT INTO inner_rows WITH (TABLOCK) (big_dummy)
SELECT TOP (:rows) '0'
FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c;
