\if :kind = 1
\set aid 3000000000 + random(1, :rows)
SELECT abalance FROM accounts WHERE aid = :aid;
\elif :kind = 2
\set aid 3000000000 + random(1, :rows - :batch)
SELECT count(*), sum(abalance) FROM accounts WHERE aid BETWEEN :aid AND :aid + :batch;
\else
-- Each worker has a part of the table.
\set first :rows * :session / :sessions
\set last :rows * (:session + 1) / :sessions
SELECT count(*) FROM accounts WHERE rowid > :first AND rowid <= :last AND abalance IS NOT NULL;
\endif
