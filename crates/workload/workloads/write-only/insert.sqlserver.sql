INSERT INTO #test_rows (body) VALUES ('X');
