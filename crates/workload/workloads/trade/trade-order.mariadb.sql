-- A customer orders: 12 statements.
\set account random_zipfian(1, :accounts, :skew)
\set account permute(:account, :accounts, 1) + 1
\set security random(1, :securities)
\set quantity random(1, 8) * 100
\set is_sale random(0, 1)
BEGIN;
SELECT name, customer_id, broker_id, balance FROM account WHERE id = :account;
SELECT c.name, c.tier, c.tax_id FROM customer AS c JOIN account AS a ON a.customer_id = c.id WHERE a.id = :account;
SELECT b.name FROM broker AS b JOIN account AS a ON a.broker_id = b.id WHERE a.id = :account;
SELECT s.name, c.name FROM security AS s JOIN company AS c ON c.id = s.company_id WHERE s.id = :security;
SELECT price FROM last_trade WHERE security_id = :security;
SELECT quantity FROM holding WHERE account_id = :account AND security_id = :security;
SELECT sum(h.quantity * l.price) FROM holding AS h JOIN last_trade AS l ON l.security_id = h.security_id
WHERE h.account_id = :account;
INSERT INTO trade (account_id, security_id, state, is_sale, quantity, bid_price, executor, desk)
VALUES (:account, :security, 'submitted', :is_sale, :quantity, 50, RPAD('executor', 40, ' '), :session);
INSERT INTO trade_history (trade_id, state, at) VALUES (LAST_INSERT_ID(), 'submitted', :operation);
SELECT max(id) FROM trade WHERE account_id = :account;
COMMIT;
