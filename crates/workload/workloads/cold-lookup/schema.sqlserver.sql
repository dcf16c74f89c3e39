CREATE TABLE outer_rows (
    id bigint NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    dummy bigint NOT NULL
);

-- 5,000 bytes: no second row fits on a page of 8 KiB.
CREATE TABLE inner_rows (
    id bigint NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    big_dummy char(5000) NOT NULL
);
