INSERT INTO broker (id, name)
SELECT seq, CONCAT('broker ', seq) FROM seq_1_to_1000000000 WHERE seq <= :customers DIV 100 + 1;

INSERT INTO customer (id, tax_id, name, tier, address)
SELECT seq, LPAD(seq, 12, '0'), CONCAT('customer ', seq), seq % 3 + 1, RPAD('street', 150, ' ')
FROM seq_1_to_1000000000 WHERE seq <= :customers;

INSERT INTO account (id, customer_id, broker_id, name, balance)
SELECT seq, seq % :customers + 1, seq % (:customers DIV 100 + 1) + 1, RPAD('account', 50, ' '), 1000000
FROM seq_1_to_1000000000 WHERE seq <= :accounts;

INSERT INTO company (id, name, industry, description)
SELECT seq, CONCAT('company ', seq), seq % 100, RPAD('description', 300, ' ')
FROM seq_1_to_1000000000 WHERE seq <= :securities;

INSERT INTO security (id, symbol, company_id, name, issued)
SELECT seq, CONCAT('S', LPAD(seq, 7, '0')), seq, RPAD('security', 70, ' '), 1000000
FROM seq_1_to_1000000000 WHERE seq <= :securities;

INSERT INTO last_trade (security_id, price, open_price, volume)
SELECT seq, seq % 90 + 10, seq % 90 + 10, 0 FROM seq_1_to_1000000000 WHERE seq <= :securities;

-- A quarter of a year of trading days.
INSERT INTO daily_market (security_id, day, close, volume)
SELECT s.id, seq, (s.id + seq) % 90 + 10, 1000
FROM security AS s JOIN seq_1_to_60;

INSERT INTO news (id, company_id, body)
SELECT seq, seq % :securities + 1, RPAD('news', 1000, ' ') FROM seq_1_to_1000000000 WHERE seq <= 2 * :securities;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time.
INSERT IGNORE INTO watch (customer_id, security_id)
SELECT seq % :customers + 1, seq * 2654435761 % :securities + 1
FROM seq_1_to_1000000000 WHERE seq <= 20 * :customers;

INSERT IGNORE INTO holding (account_id, security_id, quantity)
SELECT seq % :accounts + 1, seq * 2654435761 % :securities + 1, 100
FROM seq_1_to_1000000000 WHERE seq <= 8 * :accounts;

INSERT INTO trade (id, account_id, security_id, state, is_sale, quantity, bid_price, price, fee, executor, desk)
SELECT seq, seq * 2654435761 % :accounts + 1, seq * 40503 % :securities + 1, 'completed', seq % 2,
       100, seq % 90 + 10, seq % 90 + 10, 5, RPAD('executor', 40, ' '), 0
FROM seq_1_to_1000000000 WHERE seq <= :trades;

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'submitted', id FROM trade;

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'completed', id + 1 FROM trade;

INSERT INTO settlement (trade_id, kind, amount)
SELECT id, 'cash', quantity * price FROM trade;

INSERT INTO cash_transaction (trade_id, amount, name)
SELECT id, quantity * price, RPAD('settled', 60, ' ') FROM trade;
