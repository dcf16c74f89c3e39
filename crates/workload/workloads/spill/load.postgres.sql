-- Multiplying by Knuth's constant (2^32 over the golden ratio) scatters the keys, the same way every time.
INSERT INTO facts (sort_key, code, body)
SELECT (value * 2654435761) % 4294967296, (value::bigint * 40503) % :rows, rpad(value::text, 370)
FROM generate_series(1, :rows) AS value;

INSERT INTO labels (code, label)
SELECT value - 1, rpad(value::text, 100) FROM generate_series(1, :rows) AS value;
