-- {{ title|line }}: one more file of tempdb, on the storage; those on T: stay.
ALTER DATABASE tempdb ADD FILE (NAME = tempdb_storage, FILENAME = {{ file|tsql }}, SIZE = 64 MB, FILEGROWTH = 64 MB);
GO
-- Back:
-- ALTER DATABASE tempdb REMOVE FILE tempdb_storage;
