-- {{ title|line }}: RDS moves files between volumes by backup and restore alone. After 1-apply.sh.
-- BUCKET is yours; the server needs the option SQLSERVER_BACKUP_RESTORE.
EXEC msdb.dbo.rds_backup_database @source_db_name = {{ database|tsql }}, @s3_arn_to_backup_to = N'arn:aws:s3:::BUCKET/dbstow-moved.bak';
GO
-- Until this says SUCCESS, the next script has to wait; what is written meanwhile is not in the backup.
EXEC msdb.dbo.rds_task_status @db_name = {{ database|tsql }};
GO
