-- Two rows fill a page of 16 KiB: InnoDB keeps no longer ones within it.
CREATE TABLE raw_blocks (
    id INTEGER PRIMARY KEY,
    body VARCHAR(7000) NOT NULL
) CHARACTER SET latin1 PARTITION BY HASH (id);
