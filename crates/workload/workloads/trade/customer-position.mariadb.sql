-- A customer looks at all accounts: 7 statements. From the accounts to their trades, as it is written: for the sake of
-- the order, the server would read all trades backwards until some are the customer's.
\set customer random_zipfian(1, :customers, :skew)
\set customer permute(:customer, :customers, 3) + 1
SELECT id, name, tier, address FROM customer WHERE id = :customer;
SELECT id, name, balance FROM account WHERE customer_id = :customer;
SELECT a.id, sum(h.quantity * l.price) FROM account AS a
JOIN holding AS h ON h.account_id = a.id JOIN last_trade AS l ON l.security_id = h.security_id
WHERE a.customer_id = :customer GROUP BY a.id;
SELECT h.security_id, sum(h.quantity) FROM account AS a JOIN holding AS h ON h.account_id = a.id
WHERE a.customer_id = :customer GROUP BY h.security_id;
SELECT STRAIGHT_JOIN t.id, t.state, t.quantity FROM account AS a JOIN trade AS t ON t.account_id = a.id
WHERE a.customer_id = :customer ORDER BY t.id DESC LIMIT 10;
SELECT STRAIGHT_JOIN h.state, h.at FROM account AS a JOIN trade AS t ON t.account_id = a.id
JOIN trade_history AS h ON h.trade_id = t.id
WHERE a.customer_id = :customer ORDER BY t.id DESC LIMIT 30;
SELECT sum(balance) FROM account WHERE customer_id = :customer;
