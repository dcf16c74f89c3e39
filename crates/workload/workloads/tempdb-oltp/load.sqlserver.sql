-- As in the article, with views that have enough rows in every edition.
INSERT INTO #test_rows (body)
SELECT TOP (:rows) 'X'
FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b CROSS JOIN sys.all_columns AS c;
