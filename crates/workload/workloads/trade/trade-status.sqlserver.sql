-- A customer looks at the newest trades: 6 statements.
\set account random_zipfian(1, :accounts, :skew)
\set account permute(:account, :accounts, 1) + 1
SELECT name, balance FROM account WHERE id = :account;
SELECT c.name, c.address FROM customer AS c JOIN account AS a ON a.customer_id = c.id WHERE a.id = :account;
SELECT b.name FROM broker AS b JOIN account AS a ON a.broker_id = b.id WHERE a.id = :account;
SELECT TOP (50) t.id, t.state, t.quantity, s.symbol, s.name FROM trade AS t JOIN security AS s ON s.id = t.security_id
WHERE t.account_id = :account ORDER BY t.id DESC;
SELECT h.state, h.at FROM trade_history AS h
WHERE h.trade_id = (SELECT MAX(id) FROM trade WHERE account_id = :account);
SELECT SUM(CAST(fee AS bigint)) FROM trade WHERE account_id = :account;
