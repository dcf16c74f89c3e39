-- Rows to update are as they were inserted, those to delete as they were updated.
INSERT INTO rows SELECT 'a', 'b', 'c', value, 0, 3 FROM generate_series(1, :rows) WHERE :kind = 2;
INSERT INTO rows SELECT 'a', 'abcdefghijkl', 'mnopqrstuvwx', value, value, 3 FROM generate_series(1, :rows) WHERE :kind = 3;
