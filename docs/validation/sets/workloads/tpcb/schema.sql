-- A primary key is an index beside its table, as in PostgreSQL.
CREATE TABLE branches (bid INTEGER NOT NULL, bbalance INTEGER NOT NULL, filler TEXT NOT NULL);
CREATE TABLE tellers (tid INTEGER NOT NULL, bid INTEGER NOT NULL, tbalance INTEGER NOT NULL, filler TEXT NOT NULL);
CREATE TABLE accounts (aid INTEGER NOT NULL, bid INTEGER NOT NULL, abalance INTEGER NOT NULL, filler TEXT NOT NULL);
CREATE TABLE history (tid INTEGER NOT NULL, bid INTEGER NOT NULL, aid INTEGER NOT NULL, delta INTEGER NOT NULL, filler TEXT NOT NULL);
