\set low random(0, greatest(0, :rows - :range))
UPDATE test_rows SET body = RPAD('Y', 2000, ' ')
WHERE id > :low AND id <= :low + :range;
