\set low random(0, greatest(0, :rows - :range))
UPDATE test_rows SET body = format('%-2000s', 'Y')
WHERE id > :low AND id <= :low + :range;
