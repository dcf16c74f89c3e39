{#- A table in tempdb that a restart takes away, as everything in it: while it is there, the server has not started anew. -#}
IF OBJECT_ID(N'tempdb.dbo.[dbstow waits for a restart]') IS NULL
    CREATE TABLE tempdb.dbo.[dbstow waits for a restart] (since datetime2 NOT NULL DEFAULT SYSDATETIME());
GO
