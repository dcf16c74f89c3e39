-- `OR` makes the inner side a concatenation, over which a nested loop does not prefetch, as in the article. Its
-- undocumented QueryRuleOff is the documented NO_PERFORMANCE_SPOOL here. A query hint takes no parameter:
-- hence one text for each degree of parallelism; `maxdop = 0` leaves it to the server.
--
-- What T-SQL does not turn off: the scan of outer_rows, some 400 pages, is read ahead; and while the buffer pool
-- grows, the server may read eight neighbouring pages for one (MicrosoftDocs/sql-docs,
-- docs/relational-databases/memory-management-architecture-guide.md, read 2026-11-21). Compare its
-- counters of reads and of bytes.
\set low :rows * :session / :sessions
\set high :rows * (:session + 1) / :sessions
\if :maxdop = 1
    SELECT COUNT_BIG(*)
    FROM outer_rows AS o
    WHERE o.id > :low AND o.id <= :high
      AND (o.dummy = 1 OR EXISTS (SELECT 1 FROM inner_rows AS i WHERE i.id = o.id))
    OPTION (LOOP JOIN, NO_PERFORMANCE_SPOOL, MAXDOP 1);
\elif :maxdop = 2
    SELECT COUNT_BIG(*)
    FROM outer_rows AS o
    WHERE o.id > :low AND o.id <= :high
      AND (o.dummy = 1 OR EXISTS (SELECT 1 FROM inner_rows AS i WHERE i.id = o.id))
    OPTION (LOOP JOIN, NO_PERFORMANCE_SPOOL, MAXDOP 2);
\elif :maxdop = 4
    SELECT COUNT_BIG(*)
    FROM outer_rows AS o
    WHERE o.id > :low AND o.id <= :high
      AND (o.dummy = 1 OR EXISTS (SELECT 1 FROM inner_rows AS i WHERE i.id = o.id))
    OPTION (LOOP JOIN, NO_PERFORMANCE_SPOOL, MAXDOP 4);
\elif :maxdop = 8
    SELECT COUNT_BIG(*)
    FROM outer_rows AS o
    WHERE o.id > :low AND o.id <= :high
      AND (o.dummy = 1 OR EXISTS (SELECT 1 FROM inner_rows AS i WHERE i.id = o.id))
    OPTION (LOOP JOIN, NO_PERFORMANCE_SPOOL, MAXDOP 8);
\elif :maxdop = 0
    SELECT COUNT_BIG(*)
    FROM outer_rows AS o
    WHERE o.id > :low AND o.id <= :high
      AND (o.dummy = 1 OR EXISTS (SELECT 1 FROM inner_rows AS i WHERE i.id = o.id))
    OPTION (LOOP JOIN, NO_PERFORMANCE_SPOOL);
\else
    THROW 50001, 'the workload has texts for maxdop 0, 1, 2, 4 and 8 only', 1;
\endif
