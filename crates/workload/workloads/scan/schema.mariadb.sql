CREATE TABLE readings (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL,
    value INTEGER NOT NULL,
    body VARCHAR(980) NOT NULL,
    INDEX readings_device (device)
) CHARACTER SET latin1 PARTITION BY HASH (id);
