CREATE TABLE facts (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    sort_key bigint NOT NULL,
    code int NOT NULL,
    body char(370) NOT NULL
);

-- Without an index on `code`, so that a join has to build one.
CREATE TABLE labels (
    code int NOT NULL,
    label char(100) NOT NULL
);
