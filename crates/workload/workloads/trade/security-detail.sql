-- A customer reads up on a security: 8 statements.
\set security random_zipfian(1, :securities, :skew)
\set security permute(:security, :securities, 4) + 1
SELECT symbol, name, issued, company_id FROM security WHERE id = :security;
SELECT c.name, c.industry, c.description FROM company AS c JOIN security AS s ON s.company_id = c.id
WHERE s.id = :security;
SELECT p.name FROM company AS c JOIN company AS p ON p.industry = c.industry AND p.id <> c.id
WHERE c.id = :security LIMIT 3;
SELECT day, close, volume FROM daily_market WHERE security_id = :security ORDER BY day DESC LIMIT 20;
SELECT min(close), max(close) FROM daily_market WHERE security_id = :security;
SELECT price, open_price, volume FROM last_trade WHERE security_id = :security;
SELECT body FROM news WHERE company_id = :security LIMIT 2;
SELECT count(*) FROM holding WHERE account_id BETWEEN 1 AND 50 AND security_id = :security;
