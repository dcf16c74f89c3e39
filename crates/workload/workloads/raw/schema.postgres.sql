-- Uncompressed, so that one row fills a page.
CREATE TABLE raw_blocks (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
) PARTITION BY HASH (id);
ALTER TABLE raw_blocks ALTER COLUMN body SET STORAGE PLAIN;
