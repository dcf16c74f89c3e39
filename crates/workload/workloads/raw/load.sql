-- One row fills a page of 8 KiB.
INSERT INTO raw_blocks (id, body)
SELECT value, format('%-7000s', 'X') FROM generate_series(1, :rows);
