CREATE TABLE outer_rows (
    id INTEGER PRIMARY KEY,
    dummy INTEGER NOT NULL
);

-- 5,000 bytes: no second row fits on a page of 8 KiB.
CREATE TABLE inner_rows (
    id INTEGER PRIMARY KEY,
    big_dummy TEXT NOT NULL
);
