-- One row fills a page of 8 KiB.
INSERT INTO raw_blocks WITH (TABLOCK) (body)
SELECT TOP (:rows) 'X'
FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c;
