-- Keys of ten digits fill an entry of the index to PostgreSQL's 22 bytes.
INSERT INTO accounts SELECT 3000000000 + value, 3000000000 + value, 0, printf('%-143s', '') FROM generate_series(1, :rows);
CREATE UNIQUE INDEX accounts_pkey ON accounts (aid, bid);
