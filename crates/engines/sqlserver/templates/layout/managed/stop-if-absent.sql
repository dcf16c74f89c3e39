IF DB_ID({{ database.text()|tsql }}) IS NULL
BEGIN
    RAISERROR(N'There is no such database.', 16, 1);
    SET NOEXEC ON;
END;
GO
