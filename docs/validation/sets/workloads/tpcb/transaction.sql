\set aid random(1, :accounts)
\set tid random(1, :branches * 10)
\set bid random(1, :branches)
\set delta random(-5000, 5000)
BEGIN;
UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM accounts WHERE aid = :aid;
UPDATE tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO history (tid, bid, aid, delta, filler) VALUES (:tid, :bid, :aid, :delta, printf('%-30s', ''));
COMMIT;
