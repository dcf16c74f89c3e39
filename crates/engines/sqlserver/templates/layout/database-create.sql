{% if let Some(volume) = lost -%}
-- WARNING: volume "{{ volume|line }}" is empty after the machine was stopped or moved, and THIS DATABASE IS LOST THEN. It is
-- for tests only.
{% endif -%}
-- {{ title|line }}: makes the database. Folders first: {{ folder_script }}. As: {{ service.sqlcmd }} -i database-create.sql
USE [master];
GO
IF DB_ID({{ name|tsql }}) IS NOT NULL
BEGIN
    RAISERROR(N'There is a database of this name already.', 16, 1);
    SET NOEXEC ON;
END;
GO
{{ create }}
GO
SET NOEXEC OFF;
GO
