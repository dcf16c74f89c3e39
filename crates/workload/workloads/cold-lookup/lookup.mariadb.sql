-- A subquery for one value is a lookup per outer row whatever the optimizer thinks; and the inner row's own page
-- is read, not only its key.
\set low :rows * :session / :sessions
\set high :rows * (:session + 1) / :sessions
SELECT count(*)
FROM outer_rows AS o
WHERE o.id > :low AND o.id <= :high
  AND (o.dummy = 1 OR (SELECT i.big_dummy FROM inner_rows AS i WHERE i.id = o.id) >= '0');
