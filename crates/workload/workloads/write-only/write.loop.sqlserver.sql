-- The mix of workload.toml: two updates to one insert and one delete. Keys as in the loop of read-only, and one
-- number more for the kind, since neighbours of that generator depend on each other.
BEGIN
    SET NOCOUNT ON;
    DECLARE @modulus bigint = 4294967296, @multiplier bigint = 1664525, @increment bigint = 1013904223;
    DECLARE @random bigint = (:first * 40503 + :session * 65537 + 1) % @modulus * @multiplier % @modulus;
    DECLARE @operation bigint = :first, @kind bigint, @key bigint;
    WHILE @operation < :first + :count
    BEGIN
        SET @random = (@random * @multiplier + @increment) % @modulus;
        SET @kind = @random * 4 / @modulus;
        SET @random = (@random * @multiplier + @increment) % @modulus;
        SET @key = @random * :rows / @modulus + 1;
        IF @kind < 2
            UPDATE #test_rows SET body = 'Y' WHERE id = @key;
        ELSE IF @kind = 2
            INSERT INTO #test_rows (body) VALUES ('X');
        ELSE
            DELETE FROM #test_rows WHERE id = @key;
        SET @operation += 1;
    END;
END;
