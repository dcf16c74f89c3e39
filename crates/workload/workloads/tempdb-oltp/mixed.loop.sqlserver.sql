-- The article's own loop: all operations of a call in one round trip, whose rows still go to the client.
BEGIN
    SET NOCOUNT ON;
    DECLARE @id bigint = :first;
    WHILE @id < :first + :count
    BEGIN
        IF @id % 4 = 0
            SELECT id, body FROM #test_rows WHERE id = @id * 10;
        ELSE IF @id % 3 = 0
            INSERT INTO #test_rows (body) SELECT 'X';
        ELSE IF @id % 2 = 0
            UPDATE #test_rows SET body = 'X' WHERE id = @id * 6;
        ELSE
            DELETE FROM #test_rows WHERE id = @id * 3;
        SET @id += 1;
    END;
END;
