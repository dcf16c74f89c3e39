CREATE TABLE raw_blocks (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    body char(7000) NOT NULL
);
