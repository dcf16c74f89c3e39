-- Keys are the high bits of a linear congruential generator (multiplier and increment of Press et al., Numerical
-- Recipes, 2nd edition, section 7.1), begun anew in each call, so that a run has the same keys every time. They are
-- not those of read.sql.
BEGIN
    SET NOCOUNT ON;
    DECLARE @modulus bigint = 4294967296, @multiplier bigint = 1664525, @increment bigint = 1013904223;
    DECLARE @random bigint = (:first * 40503 + :session * 65537 + 1) % @modulus * @multiplier % @modulus;
    DECLARE @operation bigint = :first;
    WHILE @operation < :first + :count
    BEGIN
        SET @random = (@random * @multiplier + @increment) % @modulus;
        SELECT id, body FROM #test_rows WHERE id = @random * :rows / @modulus + 1;
        SET @operation += 1;
    END;
END;
