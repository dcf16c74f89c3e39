-- Each kind in turn, so that every run has the same number of each.
\if :operation % 4 = 0
    -- A sort that carries whole rows: the window needs each row's predecessor.
    SELECT count(*)
    FROM (SELECT lag(body) OVER (ORDER BY sort_key) AS previous FROM facts) AS pairs
    WHERE previous IS NOT NULL;
\elif :operation % 4 = 1
    -- A grouping of nearly as many groups as rows, again over whole rows.
    SELECT count(*), max(longest)
    FROM (SELECT max(body) AS longest FROM facts GROUP BY sort_key % (:rows DIV 2)) AS grouped;
\elif :operation % 4 = 2
    SELECT count(*) FROM (SELECT DISTINCT sort_key, code FROM facts) AS pairs;
\else
    -- The limit, which is none, makes a table of the labels, on which the join builds its index. Without one the
    -- server would read all labels again for each buffer of facts.
    SELECT count(*), max(l.label)
    FROM facts AS f
    JOIN (SELECT code, label FROM labels LIMIT 18446744073709551615) AS l ON l.code = f.code;
\endif
