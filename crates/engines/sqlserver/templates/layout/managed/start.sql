USE [master];
GO
SET NOCOUNT ON;
GO
IF CAST(SERVERPROPERTY('EngineEdition') AS int) <> 8
BEGIN
    RAISERROR(N'This is not a managed instance, and these scripts are for one.', 16, 1);
    SET NOEXEC ON;
END;
GO
