-- Whether tempdb is as it was asked for. Changes nothing.
USE [master];
GO
SET NOCOUNT ON;
DECLARE @asked TABLE (name nvarchar(128), path nvarchar(260), pages bigint);
{%- for file in asked %}
INSERT INTO @asked VALUES ({{ file.name.text()|tsql }}, {% if let Some(path) = file.path %}{{ path }}{% else %}N''{% endif %}, {% if let Some(size) = file.size %}{{ size.pages() }}{% else %}NULL{% endif %});
{%- endfor %}
SELECT used.file_id, used.type_desc, used.name, used.physical_name AS in_use, mf.physical_name AS next_start,
       CAST(used.size AS bigint) * 8 / 1024 AS in_use_mib, CAST(mf.size AS bigint) * 8 / 1024 AS next_start_mib,
       mf.growth, mf.is_percent_growth
FROM tempdb.sys.database_files AS used
LEFT JOIN sys.master_files AS mf ON mf.database_id = DB_ID(N'tempdb') AND mf.file_id = used.file_id
ORDER BY used.file_id;
IF EXISTS (SELECT 1 FROM @asked AS asked
           FULL JOIN (SELECT * FROM sys.master_files WHERE database_id = DB_ID(N'tempdb')) AS mf
             ON mf.name COLLATE DATABASE_DEFAULT = asked.name COLLATE DATABASE_DEFAULT
           WHERE mf.name IS NULL OR asked.name IS NULL
              OR mf.physical_name COLLATE DATABASE_DEFAULT <> asked.path COLLATE DATABASE_DEFAULT
              OR mf.size <> asked.pages)
    RAISERROR(N'tempdb is not as it was asked for: see the files above. Run 4-size.sql again, or undo.sql.', 16, 1);
ELSE
    PRINT N'tempdb is as it was asked for. The old files can be deleted now.';
GO
