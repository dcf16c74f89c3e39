INSERT INTO broker (name)
SELECT 'broker ' || value FROM generate_series(1, :customers / 100 + 1);

INSERT INTO customer (tax_id, name, tier, address)
SELECT printf('%012d', value), 'customer ' || value, value % 3 + 1, printf('%-150s', 'street')
FROM generate_series(1, :customers);

INSERT INTO account (customer_id, broker_id, name, balance)
SELECT value % :customers + 1, value % (:customers / 100 + 1) + 1, printf('%-50s', 'account'), 1000000
FROM generate_series(1, :accounts);

INSERT INTO company (name, industry, description)
SELECT 'company ' || value, value % 100, printf('%-300s', 'description')
FROM generate_series(1, :securities);

INSERT INTO security (symbol, company_id, name, issued)
SELECT printf('S%07d', value), value, printf('%-70s', 'security'), 1000000
FROM generate_series(1, :securities);

INSERT INTO last_trade (security_id, price, open_price, volume)
SELECT value, value % 90 + 10, value % 90 + 10, 0 FROM generate_series(1, :securities);

-- A quarter of a year of trading days.
INSERT INTO daily_market (security_id, day, close, volume)
SELECT s.id, d.value, (s.id + d.value) % 90 + 10, 1000
FROM security AS s, generate_series(1, 60) AS d;

INSERT INTO news (company_id, body)
SELECT value % :securities + 1, printf('%-1000s', 'news') FROM generate_series(1, 2 * :securities);

-- 2654435761 is Knuth's constant (2^32 over the golden ratio): it scatters, the same way every time.
INSERT OR IGNORE INTO watch (customer_id, security_id)
SELECT value % :customers + 1, (value * 2654435761) % :securities + 1
FROM generate_series(1, 20 * :customers);

INSERT OR IGNORE INTO holding (account_id, security_id, quantity)
SELECT value % :accounts + 1, (value * 2654435761) % :securities + 1, 100
FROM generate_series(1, 8 * :accounts);

INSERT INTO trade (account_id, security_id, state, is_sale, quantity, bid_price, price, fee, executor, desk)
SELECT (value * 2654435761) % :accounts + 1, (value * 40503) % :securities + 1, 'completed', value % 2,
       100, value % 90 + 10, value % 90 + 10, 5, printf('%-40s', 'executor'), 0
FROM generate_series(1, :trades);

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'submitted', id FROM trade;

INSERT INTO trade_history (trade_id, state, at)
SELECT id, 'completed', id + 1 FROM trade;

INSERT INTO settlement (trade_id, kind, amount)
SELECT id, 'cash', quantity * price FROM trade;

INSERT INTO cash_transaction (trade_id, amount, name)
SELECT id, quantity * price, printf('%-60s', 'settled') FROM trade;
