-- Back office corrects old trades: 10 statements.
\set trade random_zipfian(1, :trades, :skew)
\set trade permute(:trade, :trades, 2) + 1
\set account random(1, :accounts)
BEGIN TRANSACTION;
SELECT executor, quantity, price FROM trade WHERE id = :trade;
UPDATE trade SET executor = CONCAT('corrected ', :operation) WHERE id = :trade;
SELECT kind, amount FROM settlement WHERE trade_id = :trade;
UPDATE settlement SET kind = CASE kind WHEN 'cash' THEN 'margin' ELSE 'cash' END WHERE trade_id = :trade;
SELECT amount, name FROM cash_transaction WHERE trade_id = :trade;
UPDATE cash_transaction SET name = CONCAT('corrected ', :operation) WHERE trade_id = :trade;
SELECT TOP (20) id, quantity, price FROM trade WHERE account_id = :account ORDER BY id;
SELECT state, at FROM trade_history WHERE trade_id = :trade ORDER BY at;
COMMIT TRANSACTION;
