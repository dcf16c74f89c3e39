CREATE TABLE raw_blocks (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
