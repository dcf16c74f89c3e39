-- The market answers the oldest order of this session's desk that waits: 13 statements. It waits until the last of
-- them, so that each finds the same one; where none waits, they find nothing.
BEGIN TRANSACTION;
SELECT TOP (1) id, account_id, security_id, is_sale, quantity FROM trade
WHERE state = 'submitted' AND desk = :session ORDER BY id;
SELECT h.quantity FROM holding AS h JOIN trade AS t ON t.account_id = h.account_id AND t.security_id = h.security_id
WHERE t.id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session);
MERGE INTO holding WITH (HOLDLOCK) AS h
USING (SELECT account_id, security_id, quantity FROM trade
       WHERE id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session)) AS t
ON h.account_id = t.account_id AND h.security_id = t.security_id
WHEN MATCHED THEN UPDATE SET quantity = h.quantity + t.quantity
WHEN NOT MATCHED THEN INSERT (account_id, security_id, quantity) VALUES (t.account_id, t.security_id, t.quantity);
SELECT c.tier FROM customer AS c JOIN account AS a ON a.customer_id = c.id JOIN trade AS t ON t.account_id = a.id
WHERE t.id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session);
SELECT s.symbol, l.price FROM security AS s JOIN last_trade AS l ON l.security_id = s.id JOIN trade AS t ON t.security_id = s.id
WHERE t.id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session);
INSERT INTO trade_history (trade_id, state, at)
SELECT MIN(id), 'completed', :operation FROM trade WHERE state = 'submitted' AND desk = :session HAVING MIN(id) IS NOT NULL;
UPDATE broker SET trades = trades + 1, commission = commission + 5
WHERE id = (SELECT a.broker_id FROM account AS a JOIN trade AS t ON t.account_id = a.id
            WHERE t.id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session));
INSERT INTO settlement (trade_id, kind, amount)
SELECT id, 'cash', quantity * bid_price FROM trade
WHERE id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session);
INSERT INTO cash_transaction (trade_id, amount, name)
SELECT id, quantity * bid_price, 'settled' FROM trade
WHERE id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session);
UPDATE account SET balance = balance - 500
WHERE id = (SELECT account_id FROM trade WHERE id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session));
UPDATE trade SET state = 'completed', price = bid_price, fee = 5
WHERE id = (SELECT MIN(id) FROM trade WHERE state = 'submitted' AND desk = :session);
COMMIT TRANSACTION;
