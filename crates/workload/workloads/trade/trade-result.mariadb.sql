-- The market answers the oldest order of this session's desk that waits: 13 statements. It waits until the last of
-- them, so that each finds the same one; where none waits, they find nothing.
BEGIN;
SELECT id, account_id, security_id, is_sale, quantity FROM trade
WHERE state = 'submitted' AND desk = :session ORDER BY id LIMIT 1;
SELECT h.quantity FROM holding AS h JOIN trade AS t ON t.account_id = h.account_id AND t.security_id = h.security_id
WHERE t.id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session);
INSERT INTO holding (account_id, security_id, quantity)
SELECT account_id, security_id, quantity FROM trade
WHERE id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session)
ON DUPLICATE KEY UPDATE holding.quantity = holding.quantity + VALUES(quantity);
SELECT c.tier FROM customer AS c JOIN account AS a ON a.customer_id = c.id JOIN trade AS t ON t.account_id = a.id
WHERE t.id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session);
SELECT s.symbol, l.price FROM security AS s JOIN last_trade AS l ON l.security_id = s.id JOIN trade AS t ON t.security_id = s.id
WHERE t.id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session);
INSERT INTO trade_history (trade_id, state, at)
SELECT min(id), 'completed', :operation FROM trade WHERE state = 'submitted' AND desk = :session HAVING min(id) IS NOT NULL;
UPDATE broker AS b JOIN account AS a ON a.broker_id = b.id JOIN trade AS t ON t.account_id = a.id
SET b.trades = b.trades + 1, b.commission = b.commission + 5
WHERE t.id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session);
INSERT INTO settlement (trade_id, kind, amount)
SELECT id, 'cash', quantity * bid_price FROM trade
WHERE id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session);
INSERT INTO cash_transaction (trade_id, amount, name)
SELECT id, quantity * bid_price, RPAD('settled', 60, ' ') FROM trade
WHERE id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session);
UPDATE account AS a JOIN trade AS t ON t.account_id = a.id
SET a.balance = a.balance - 500
WHERE t.id = (SELECT min(id) FROM trade WHERE state = 'submitted' AND desk = :session);
UPDATE trade SET state = 'completed', price = bid_price, fee = 5
WHERE state = 'submitted' AND desk = :session ORDER BY id LIMIT 1;
COMMIT;
