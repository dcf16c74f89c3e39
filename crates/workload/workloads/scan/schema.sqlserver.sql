CREATE TABLE readings (
    id int NOT NULL PRIMARY KEY,
    device int NOT NULL,
    value bigint NOT NULL,
    body char(980) NOT NULL,
    INDEX readings_device (device)
);
