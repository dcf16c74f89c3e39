-- The article's loop, with its @Id as :operation.
\if :operation % 4 = 0
    \set key :operation * 10
    SELECT id, body FROM test_rows WHERE id = :key;
\elif :operation % 3 = 0
    INSERT INTO test_rows (body) VALUES (RPAD('X', 2000, ' '));
\elif :operation % 2 = 0
    \set key :operation * 6
    UPDATE test_rows SET body = RPAD('X', 2000, ' ') WHERE id = :key;
\else
    \set key :operation * 3
    DELETE FROM test_rows WHERE id = :key;
\endif
