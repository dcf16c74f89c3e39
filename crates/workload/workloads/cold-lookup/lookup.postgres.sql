-- A subquery for one value is a lookup per outer row whatever the planner thinks; and the inner row itself
-- is read, not only its index entry.
\set low :rows * :session / :sessions
\set high :rows * (:session + 1) / :sessions
SELECT count(*)
FROM outer_rows AS o
WHERE o.id > :low AND o.id <= :high
  AND (o.dummy = 1 OR (SELECT i.big_dummy FROM inner_rows AS i WHERE i.id = o.id) >= '0');
