-- Whether 2-apply.sql can be run. Nothing that this changes stays: it makes a small database in the
-- folders, to see that the service can write there, and drops it.
USE [master];
GO
SET NOCOUNT ON;
DECLARE @bad int = 0, @say nvarchar(2000);

IF CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (1, 2, 3, 4)
BEGIN
    RAISERROR(N'This is not SQL Server on a machine of its own, and these scripts are for that. Write others with --on.', 16, 1);
    SET @bad += 1;
END;
IF ISNULL(IS_SRVROLEMEMBER({{ MOVES_TEMPDB|tsql }}), 0) = 0
BEGIN
    RAISERROR(N'This login cannot do it: moving tempdb requires a member of {{ MOVES_TEMPDB }}.', 16, 1);
    SET @bad += 1;
END;

-- The files that these scripts were written for.
DECLARE @expected TABLE (name nvarchar(128), path nvarchar(260), pages bigint, growth bigint, is_percent bit);
{%- for file in expected %}
INSERT INTO @expected VALUES ({{ file.name|tsql }}, {{ file.path|tsql }}, {{ file.pages }}, {{ file.growth }}, {{ file.is_percent }});
{%- endfor %}
IF EXISTS (SELECT name COLLATE DATABASE_DEFAULT, physical_name COLLATE DATABASE_DEFAULT, size, growth, is_percent_growth
           FROM sys.master_files WHERE database_id = DB_ID(N'tempdb')
           EXCEPT SELECT name COLLATE DATABASE_DEFAULT, path COLLATE DATABASE_DEFAULT, pages, growth, is_percent FROM @expected)
   OR EXISTS (SELECT name COLLATE DATABASE_DEFAULT, path COLLATE DATABASE_DEFAULT, pages, growth, is_percent FROM @expected
           EXCEPT SELECT name COLLATE DATABASE_DEFAULT, physical_name COLLATE DATABASE_DEFAULT, size, growth, is_percent_growth
           FROM sys.master_files WHERE database_id = DB_ID(N'tempdb'))
BEGIN
    SELECT name, physical_name, size AS pages, growth, is_percent_growth
    FROM sys.master_files WHERE database_id = DB_ID(N'tempdb') ORDER BY file_id;
    RAISERROR(N'tempdb has other files, at the next start, than those that these scripts were written for. Take a capture with dbstow doctor, and write the scripts again with --capture.', 16, 1);
    SET @bad += 1;
END;

-- Another database's file where one of tempdb is to be.
SELECT @say = MAX(physical_name) FROM sys.master_files
WHERE database_id <> DB_ID(N'tempdb') AND physical_name IN (
{%- for path in paths %}
    {{ path }}{% if !loop.last %},{% endif %}
{%- endfor %});
IF @say IS NOT NULL
BEGIN
    RAISERROR(N'Another database has the file %s already. Give another folder with --volume.', 16, 1, @say);
    SET @bad += 1;
END;
{%- if let Some(probe) = probe %}

-- Whether the service can write in the folders, and what is free there.
DECLARE @need TABLE (name nvarchar(128), bytes bigint);
DECLARE @short nvarchar(2000);
IF DB_ID({{ PROBE|tsql }}) IS NOT NULL
BEGIN
    RAISERROR(N'There is a database {{ PROBE }} already, perhaps of a check that was interrupted. Drop it.', 16, 1);
    SET @bad += 1;
END;
ELSE IF @bad = 0
BEGIN
    BEGIN TRY
        {{ probe.create|indent(8) }}
        {%- for (name, bytes) in probe.needs %}
        INSERT INTO @need VALUES ({{ name.text()|tsql }}, {{ bytes }});
        {%- endfor %}
        SELECT TOP (1) @short = MIN(volume.volume_mount_point) + N' has '
            + CAST(MIN(volume.available_bytes) / 1048576 AS nvarchar(20)) + N' MiB free, and the files need '
            + CAST(SUM(need.bytes) / 1048576 AS nvarchar(20))
        FROM sys.master_files AS mf
        JOIN @need AS need ON need.name COLLATE DATABASE_DEFAULT = mf.name COLLATE DATABASE_DEFAULT
        CROSS APPLY sys.dm_os_volume_stats(mf.database_id, mf.file_id) AS volume
        WHERE mf.database_id = DB_ID({{ PROBE|tsql }})
        GROUP BY volume.volume_id
        HAVING SUM(need.bytes) > MIN(CAST(volume.available_bytes AS decimal(38)));
        IF @short IS NOT NULL
            SET @bad += 1;
    END TRY
    BEGIN CATCH
        SET @say = ERROR_MESSAGE();
        SET @bad += 1;
        RAISERROR(N'The service cannot make files in the folders, or this login may not see what is free (VIEW SERVER STATE): %s', 16, 1, @say);
    END CATCH;
    IF @short IS NOT NULL
        RAISERROR(N'Too little space: %s MiB. Ask for smaller files (--size, --log-size), or another volume.', 16, 1, @short);
    IF DB_ID({{ PROBE|tsql }}) IS NOT NULL
        {{ probe.drop }}
END;
{%- endif %}
IF @bad = 0
    PRINT N'All is well. Go on with 2-apply.sql.';
GO
