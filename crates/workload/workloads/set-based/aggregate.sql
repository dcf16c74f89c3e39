\set low random(0, greatest(0, :rows - :range))
SELECT substr(body, 1, 1) AS letter, count(*), sum(length(body))
FROM test_rows
WHERE id > :low AND id <= :low + :range
GROUP BY letter;
