-- Back office looks old trades up: 8 statements.
\set trade random_zipfian(1, :trades, :skew)
\set trade permute(:trade, :trades, 2) + 1
\set account random(1, :accounts)
\set security random(1, :securities)
SELECT is_sale, quantity, bid_price, price, executor FROM trade WHERE id = :trade;
SELECT kind, amount FROM settlement WHERE trade_id = :trade;
SELECT amount, name FROM cash_transaction WHERE trade_id = :trade;
SELECT state, at FROM trade_history WHERE trade_id = :trade ORDER BY at;
SELECT TOP (20) id, quantity, price FROM trade WHERE account_id = :account ORDER BY id;
SELECT TOP (20) t.id, s.amount FROM trade AS t JOIN settlement AS s ON s.trade_id = t.id
WHERE t.account_id = :account ORDER BY t.id;
SELECT TOP (20) id, account_id, quantity, price FROM trade WHERE security_id = :security ORDER BY id;
SELECT TOP (40) h.trade_id, h.state FROM trade AS t JOIN trade_history AS h ON h.trade_id = t.id
WHERE t.security_id = :security ORDER BY t.id;
