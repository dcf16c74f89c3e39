-- Brokers compare what waits: 4 statements.
\set industry random(0, 99)
SELECT b.name, SUM(CAST(t.quantity AS bigint) * t.bid_price) FROM trade AS t
JOIN account AS a ON a.id = t.account_id JOIN broker AS b ON b.id = a.broker_id
WHERE t.state = 'submitted' GROUP BY b.name ORDER BY 2 DESC;
SELECT c.name, COUNT(*) FROM company AS c JOIN security AS s ON s.company_id = c.id
WHERE c.industry = :industry GROUP BY c.name;
SELECT SUM(CAST(l.volume AS bigint)) FROM company AS c JOIN security AS s ON s.company_id = c.id
JOIN last_trade AS l ON l.security_id = s.id WHERE c.industry = :industry;
SELECT TOP (10) name, trades, commission FROM broker ORDER BY commission DESC;
