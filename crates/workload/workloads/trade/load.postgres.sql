INSERT INTO broker (name)
SELECT 'broker ' || value FROM generate_series(1, :customers / 100 + 1) AS value;

INSERT INTO customer (tax_id, name, tier, address)
SELECT lpad(value::text, 12, '0'), 'customer ' || value, value % 3 + 1, rpad('street', 150)
FROM generate_series(1, :customers) AS value;

INSERT INTO account (customer_id, broker_id, name, balance)
SELECT value % :customers + 1, value % (:customers / 100 + 1) + 1, rpad('account', 50), 1000000
FROM generate_series(1, :accounts) AS value;

INSERT INTO company (name, industry, description)
SELECT 'company ' || value, value % 100, rpad('description', 300)
FROM generate_series(1, :securities) AS value;

INSERT INTO security (symbol, company_id, name, issued)
SELECT 'S' || lpad(value::text, 7, '0'), value, rpad('security', 70), 1000000
FROM generate_series(1, :securities) AS value;

INSERT INTO last_trade (security_id, price, open_price, volume)
SELECT value, value % 90 + 10, value % 90 + 10, 0 FROM generate_series(1, :securities) AS value;

-- A quarter of a year of trading days.
INSERT INTO daily_market (security_id, day, close, volume)
SELECT s.id, d.value, (s.id + d.value) % 90 + 10, 1000
FROM security AS s, generate_series(1, 60) AS d (value);

INSERT INTO news (company_id, body)
SELECT value % :securities + 1, rpad('news', 1000) FROM generate_series(1, 2 * :securities) AS value;

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time.
INSERT INTO watch (customer_id, security_id)
SELECT value % :customers + 1, (value * 2654435761) % :securities + 1
FROM generate_series(1, 20 * :customers) AS value
ON CONFLICT DO NOTHING;

INSERT INTO holding (account_id, security_id, quantity)
SELECT value % :accounts + 1, (value * 2654435761) % :securities + 1, 100
FROM generate_series(1, 8 * :accounts) AS value
ON CONFLICT DO NOTHING;

INSERT INTO trade (account_id, security_id, state, is_sale, quantity, bid_price, price, fee, executor, desk)
SELECT (value * 2654435761) % :accounts + 1, (value::bigint * 40503) % :securities + 1, 'completed', value % 2,
       100, value % 90 + 10, value % 90 + 10, 5, rpad('executor', 40), 0
FROM generate_series(1, :trades) AS value;

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'submitted', id FROM trade;

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'completed', id + 1 FROM trade;

INSERT INTO settlement (trade_id, kind, amount)
SELECT id, 'cash', quantity * price FROM trade;

INSERT INTO cash_transaction (trade_id, amount, name)
SELECT id, quantity * price, rpad('settled', 60) FROM trade;
