-- Each kind in turn, so that every run has the same number of each, with an operator that spills into tempdb. A
-- grant of one per cent of what a query may have, whatever the optimizer estimates: it is less than the rows
-- take as long as these are more than one per cent of memory. One thread, since sessions are what is varied.
\if :operation % 4 = 0
    -- A sort that carries whole rows: the window needs each row's predecessor.
    SELECT COUNT(*)
    FROM (SELECT LAG(body) OVER (ORDER BY sort_key) AS previous FROM facts) AS pairs
    WHERE previous IS NOT NULL
    OPTION (MIN_GRANT_PERCENT = 1, MAX_GRANT_PERCENT = 1, MAXDOP 1);
\elif :operation % 4 = 1
    -- A grouping of nearly as many groups as rows, again over whole rows.
    SELECT COUNT(*), MAX(longest)
    FROM (SELECT MAX(body) AS longest FROM facts GROUP BY sort_key % (:rows / 2)) AS groups
    OPTION (HASH GROUP, MIN_GRANT_PERCENT = 1, MAX_GRANT_PERCENT = 1, MAXDOP 1);
\elif :operation % 4 = 2
    SELECT COUNT(*) FROM (SELECT DISTINCT sort_key, code FROM facts) AS pairs
    OPTION (ORDER GROUP, MIN_GRANT_PERCENT = 1, MAX_GRANT_PERCENT = 1, MAXDOP 1);
\else
    SELECT COUNT(*), MAX(l.label)
    FROM facts AS f
    JOIN labels AS l ON l.code = f.code
    OPTION (HASH JOIN, MIN_GRANT_PERCENT = 1, MAX_GRANT_PERCENT = 1, MAXDOP 1);
\endif
