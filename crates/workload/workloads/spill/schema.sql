CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    sort_key INTEGER NOT NULL,
    code INTEGER NOT NULL,
    body TEXT NOT NULL
);

-- Without an index on `code`, so that a join has to build one.
CREATE TABLE labels (
    code INTEGER NOT NULL,
    label TEXT NOT NULL
);
