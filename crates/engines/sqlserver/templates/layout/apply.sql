-- Says where tempdb's files are to be. Nothing moves before the restart; undo.sql takes it back.
USE [master];
GO
SET NOCOUNT ON;
GO
{% include "layout/stop-if-unknown.sql" %}
{%- for statement in plan.apply %}
{{ statement }}
GO
{%- endfor %}
{% include "layout/mark.sql" %}
PRINT N'If there is no error above: restart the service now, see 3-restart.';
GO
SET NOEXEC OFF;
GO
