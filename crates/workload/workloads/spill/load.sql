-- Multiplying by Knuth's constant (2^32 over the golden ratio) scatters the keys, the same way every time.
INSERT INTO facts (sort_key, code, body)
SELECT (value * 2654435761) % 4294967296, (value * 40503) % :rows, printf('%-370d', value)
FROM generate_series(1, :rows);

INSERT INTO labels (code, label)
SELECT value - 1, printf('%-100d', value) FROM generate_series(1, :rows);
