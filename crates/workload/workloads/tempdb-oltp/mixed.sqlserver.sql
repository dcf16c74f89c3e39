-- The article's loop, with its @Id as :operation; a char(2000) pads by itself.
\if :operation % 4 = 0
    \set key :operation * 10
    SELECT id, body FROM #test_rows WHERE id = :key;
\elif :operation % 3 = 0
    INSERT INTO #test_rows (body) SELECT 'X';
\elif :operation % 2 = 0
    \set key :operation * 6
    UPDATE #test_rows SET body = 'X' WHERE id = :key;
\else
    \set key :operation * 3
    DELETE FROM #test_rows WHERE id = :key;
\endif
