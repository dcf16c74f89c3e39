-- `OR` keeps the inner side a lookup per outer row, as in the article.
\set low :rows * :session / :sessions
\set high :rows * (:session + 1) / :sessions
SELECT count(*)
FROM outer_rows AS o
WHERE o.id > :low AND o.id <= :high
  AND (o.dummy = 1 OR EXISTS (SELECT 1 FROM inner_rows AS i WHERE i.id = o.id));
