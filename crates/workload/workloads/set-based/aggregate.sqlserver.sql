\set low random(0, greatest(0, :rows - :range))
SELECT LEFT(body, 1) AS letter, COUNT(*), SUM(CAST(DATALENGTH(body) AS bigint))
FROM #test_rows
WHERE id > :low AND id <= :low + :range
GROUP BY LEFT(body, 1);
