-- The article's loop, with its @Id as :operation.
\if :operation % 4 = 0
    \set key :operation * 10
    SELECT id, body FROM test_rows WHERE id = :key;
\elif :operation % 3 = 0
    INSERT INTO test_rows (body) VALUES (format('%-2000s', 'X'));
\elif :operation % 2 = 0
    \set key :operation * 6
    UPDATE test_rows SET body = format('%-2000s', 'X') WHERE id = :key;
\else
    \set key :operation * 3
    DELETE FROM test_rows WHERE id = :key;
\endif
