-- Not TEMP: the sessions that load are not those of the run. The parts are unlogged, in temp space.
-- Rows as they are, uncompressed: four to a page, as a char(2000) has it.
CREATE TABLE test_rows (
    id SERIAL PRIMARY KEY,
    body TEXT NOT NULL
) PARTITION BY HASH (id);
ALTER TABLE test_rows ALTER COLUMN body SET STORAGE PLAIN;
