{#- The table of mark.sql is still there. SET NOEXEC holds for the rest of the script, in any client. -#}
IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NOT NULL
BEGIN
    RAISERROR(N'The service has not been restarted yet, so that the old files are still in use. Restart it first.', 16, 1);
    SET NOEXEC ON;
END;
GO
