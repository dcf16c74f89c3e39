CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    sort_key BIGINT NOT NULL,
    code INTEGER NOT NULL,
    body VARCHAR(370) NOT NULL
) CHARACTER SET latin1 PARTITION BY HASH (id);

-- Without an index on `code`, so that a join has to build one.
CREATE TABLE labels (
    code INTEGER NOT NULL,
    label VARCHAR(100) NOT NULL
) CHARACTER SET latin1 PARTITION BY HASH (code);
