-- Prices of ten securities come in: 22 statements.
\set first random(1, :securities)
BEGIN;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 0) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 0) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 37) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 37) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 74) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 74) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 111) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 111) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 148) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 148) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 185) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 185) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 222) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 222) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 259) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 259) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 296) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 296) % :securities + 1;
UPDATE last_trade SET price = price % 99 + 1, volume = volume + 100 WHERE security_id = (:first + 333) % :securities + 1;
SELECT count(*) FROM trade WHERE state = 'submitted' AND security_id = (:first + 333) % :securities + 1;
COMMIT;
