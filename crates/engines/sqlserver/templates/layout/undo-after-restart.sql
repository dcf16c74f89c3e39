-- The rest of the rollback: files that were added go, sizes and growth are as they were.
USE [master];
GO
SET NOCOUNT ON;
GO
{% include "layout/stop-unless-restarted.sql" %}
{%- for statement in plan.after_undo %}
{{ statement }}
GO
{%- endfor %}
PRINT N'If there is no error above: tempdb is as it was.';
GO
SET NOEXEC OFF;
GO
