INSERT INTO broker (id, name)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :customers DIV 100 + 1)
SELECT seq, CONCAT('broker ', seq) FROM numbers;

INSERT INTO customer (id, tax_id, name, tier, address)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :customers)
SELECT seq, LPAD(seq, 12, '0'), CONCAT('customer ', seq), seq % 3 + 1, RPAD('street', 150, ' ')
FROM numbers;

INSERT INTO account (id, customer_id, broker_id, name, balance)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :accounts)
SELECT seq, seq % :customers + 1, seq % (:customers DIV 100 + 1) + 1, RPAD('account', 50, ' '), 1000000
FROM numbers;

INSERT INTO company (id, name, industry, description)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :securities)
SELECT seq, CONCAT('company ', seq), seq % 100, RPAD('description', 300, ' ')
FROM numbers;

INSERT INTO security (id, symbol, company_id, name, issued)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :securities)
SELECT seq, CONCAT('S', LPAD(seq, 7, '0')), seq, RPAD('security', 70, ' '), 1000000
FROM numbers;

INSERT INTO last_trade (security_id, price, open_price, volume)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :securities)
SELECT seq, seq % 90 + 10, seq % 90 + 10, 0 FROM numbers;

-- A quarter of a year of trading days.
INSERT INTO daily_market (security_id, day, close, volume)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < 60)
SELECT s.id, seq, (s.id + seq) % 90 + 10, 1000
FROM security AS s JOIN numbers;

INSERT INTO news (id, company_id, body)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < 2 * :securities)
SELECT seq, seq % :securities + 1, RPAD('news', 1000, ' ') FROM numbers;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time.
INSERT IGNORE INTO watch (customer_id, security_id)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < 20 * :customers)
SELECT seq % :customers + 1, seq * 2654435761 % :securities + 1
FROM numbers;

INSERT IGNORE INTO holding (account_id, security_id, quantity)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < 8 * :accounts)
SELECT seq % :accounts + 1, seq * 2654435761 % :securities + 1, 100
FROM numbers;

INSERT INTO trade (id, account_id, security_id, state, is_sale, quantity, bid_price, price, fee, executor, desk)
WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < :trades)
SELECT seq, seq * 2654435761 % :accounts + 1, seq * 40503 % :securities + 1, 'completed', seq % 2,
       100, seq % 90 + 10, seq % 90 + 10, 5, RPAD('executor', 40, ' '), 0
FROM numbers;

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'submitted', id FROM trade;

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'completed', id + 1 FROM trade;

INSERT INTO settlement (trade_id, kind, amount)
SELECT id, 'cash', quantity * price FROM trade;

INSERT INTO cash_transaction (trade_id, amount, name)
SELECT id, quantity * price, RPAD('settled', 60, ' ') FROM trade;
