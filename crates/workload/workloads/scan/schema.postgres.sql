CREATE TABLE readings (
    id INTEGER NOT NULL,
    device INTEGER NOT NULL,
    value INTEGER NOT NULL,
    body TEXT NOT NULL
) PARTITION BY HASH (id);
CREATE INDEX readings_device ON readings (device);
