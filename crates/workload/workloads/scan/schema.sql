CREATE TABLE readings (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL,
    value INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX readings_device ON readings (device);
