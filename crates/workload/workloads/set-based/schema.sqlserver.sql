-- Of the session, which therefore loads and runs on one connection.
CREATE TABLE #test_rows (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    body char(2000) NOT NULL
);
