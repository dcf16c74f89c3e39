-- A customer follows a list of securities: 6 statements.
\set customer random_zipfian(1, :customers, :skew)
\set customer permute(:customer, :customers, 3) + 1
\set day random(1, 60)
SELECT COUNT(*) FROM watch WHERE customer_id = :customer;
SELECT w.security_id, l.price, l.open_price FROM watch AS w JOIN last_trade AS l ON l.security_id = w.security_id
WHERE w.customer_id = :customer;
SELECT SUM(CAST(s.issued AS bigint) * l.price) FROM watch AS w JOIN security AS s ON s.id = w.security_id
JOIN last_trade AS l ON l.security_id = s.id WHERE w.customer_id = :customer;
SELECT SUM(CAST(s.issued AS bigint) * d.[close]) FROM watch AS w JOIN security AS s ON s.id = w.security_id
JOIN daily_market AS d ON d.security_id = s.id AND d.day = :day WHERE w.customer_id = :customer;
SELECT TOP (5) s.symbol, l.volume FROM watch AS w JOIN security AS s ON s.id = w.security_id
JOIN last_trade AS l ON l.security_id = s.id WHERE w.customer_id = :customer ORDER BY l.volume DESC;
SELECT TOP (5) s.symbol, c.name FROM watch AS w JOIN security AS s ON s.id = w.security_id
JOIN company AS c ON c.id = s.company_id WHERE w.customer_id = :customer ORDER BY s.symbol;
