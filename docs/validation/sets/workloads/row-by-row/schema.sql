CREATE TABLE rows (
    a TEXT NOT NULL, b TEXT NOT NULL, c TEXT NOT NULL,
    number INTEGER NOT NULL, other INTEGER NOT NULL, constant INTEGER NOT NULL,
    PRIMARY KEY (other, number, a, b)
) WITHOUT ROWID;
CREATE INDEX rows_number ON rows (number, constant, b, c);
