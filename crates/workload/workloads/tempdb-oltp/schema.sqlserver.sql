-- The article's table, as a temporary one of the session.
CREATE TABLE #test_rows (
    id int NOT NULL IDENTITY(1, 1) PRIMARY KEY,
    body char(2000) NOT NULL
);
