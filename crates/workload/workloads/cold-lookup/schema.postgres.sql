CREATE TABLE outer_rows (
    id INTEGER PRIMARY KEY,
    dummy INTEGER NOT NULL
) PARTITION BY HASH (id);

-- 5,000 bytes, uncompressed: no second row fits on a page of 8 KiB.
CREATE TABLE inner_rows (
    id INTEGER PRIMARY KEY,
    big_dummy TEXT NOT NULL
) PARTITION BY HASH (id);
ALTER TABLE inner_rows ALTER COLUMN big_dummy SET STORAGE PLAIN;
