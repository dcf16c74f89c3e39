-- Back office corrects old trades: 10 statements.
\set trade random_zipfian(1, :trades, :skew)
\set trade permute(:trade, :trades, 2) + 1
\set account random(1, :accounts)
BEGIN;
SELECT executor, quantity, price FROM trade WHERE id = :trade;
UPDATE trade SET executor = RPAD(CONCAT('corrected ', :operation), 40, ' ') WHERE id = :trade;
SELECT kind, amount FROM settlement WHERE trade_id = :trade;
UPDATE settlement SET kind = CASE kind WHEN 'cash' THEN 'margin' ELSE 'cash' END WHERE trade_id = :trade;
SELECT amount, name FROM cash_transaction WHERE trade_id = :trade;
UPDATE cash_transaction SET name = RPAD(CONCAT('corrected ', :operation), 60, ' ') WHERE trade_id = :trade;
SELECT id, quantity, price FROM trade WHERE account_id = :account ORDER BY id LIMIT 20;
SELECT state, at FROM trade_history WHERE trade_id = :trade ORDER BY at;
COMMIT;
