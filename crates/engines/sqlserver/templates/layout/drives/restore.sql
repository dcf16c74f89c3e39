-- {{ title|line }}: a copy with data on {{ data }} and the log on {{ log }}. The database itself stays as it is: to roll back, keep it.
EXEC msdb.dbo.rds_restore_database @restore_db_name = {{ moved|tsql }}, @s3_arn_to_restore_from = N'arn:aws:s3:::BUCKET/dbstow-moved.bak',
    @data_file_volume = '{{ data }}', @log_file_volume = '{{ log }}';
GO
EXEC msdb.dbo.rds_task_status @db_name = {{ moved|tsql }};
GO
-- When it is complete, and no application uses the old one, give the copy its name (rdsadmin.dbo.rds_modify_db_name), first that of
-- {{ database|line }} another.
