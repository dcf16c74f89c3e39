-- Each row of one range meets its partner half the table away.
\set low random(0, greatest(0, :rows - :range))
SELECT count(*)
FROM test_rows AS near
JOIN test_rows AS far ON far.id = (near.id + :rows DIV 2) % :rows + 1
WHERE near.id > :low AND near.id <= :low + :range AND far.body >= near.body;
