INSERT INTO branches SELECT value, 0, printf('%-88s', '') FROM generate_series(1, :branches);
INSERT INTO tellers SELECT value, (value - 1) / 10 + 1, 0, printf('%-84s', '') FROM generate_series(1, :branches * 10);
-- A header of 24 bytes and a pointer of 4 beside the 76 that pgbench fills.
INSERT INTO accounts SELECT value, (value - 1) * :branches / :accounts + 1, 0, printf('%-104s', '') FROM generate_series(1, :accounts);
CREATE UNIQUE INDEX branches_pkey ON branches (bid);
CREATE UNIQUE INDEX tellers_pkey ON tellers (tid);
CREATE UNIQUE INDEX accounts_pkey ON accounts (aid);
