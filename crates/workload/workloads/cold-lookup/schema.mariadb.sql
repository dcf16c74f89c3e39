CREATE TABLE outer_rows (
    id INTEGER PRIMARY KEY,
    dummy INTEGER NOT NULL
) PARTITION BY HASH (id);

-- 8,200 bytes: InnoDB keeps what is longer than half a page of 16 KiB on a page of its own, which its reading
-- ahead does not foresee. Of a row's 5,000 bytes there would be three to a page, in the order of their keys.
CREATE TABLE inner_rows (
    id INTEGER PRIMARY KEY,
    big_dummy VARCHAR(8200) NOT NULL
) ROW_FORMAT = DYNAMIC CHARACTER SET latin1 PARTITION BY HASH (id);
