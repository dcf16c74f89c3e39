-- Drops the database, with ALL that is in it by now.
USE [master];
GO
{{ drop }}
GO
