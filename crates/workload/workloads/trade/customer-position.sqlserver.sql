-- A customer looks at all accounts: 7 statements.
\set customer random_zipfian(1, :customers, :skew)
\set customer permute(:customer, :customers, 3) + 1
SELECT id, name, tier, address FROM customer WHERE id = :customer;
SELECT id, name, balance FROM account WHERE customer_id = :customer;
SELECT a.id, SUM(CAST(h.quantity AS bigint) * l.price) FROM account AS a
JOIN holding AS h ON h.account_id = a.id JOIN last_trade AS l ON l.security_id = h.security_id
WHERE a.customer_id = :customer GROUP BY a.id;
SELECT h.security_id, SUM(h.quantity) FROM account AS a JOIN holding AS h ON h.account_id = a.id
WHERE a.customer_id = :customer GROUP BY h.security_id;
SELECT TOP (10) t.id, t.state, t.quantity FROM account AS a JOIN trade AS t ON t.account_id = a.id
WHERE a.customer_id = :customer ORDER BY t.id DESC;
SELECT TOP (30) h.state, h.at FROM account AS a JOIN trade AS t ON t.account_id = a.id
JOIN trade_history AS h ON h.trade_id = t.id
WHERE a.customer_id = :customer ORDER BY t.id DESC;
SELECT SUM(CAST(balance AS bigint)) FROM account WHERE customer_id = :customer;
