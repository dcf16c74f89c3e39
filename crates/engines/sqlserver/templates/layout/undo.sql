-- Takes 2-apply.sql and 4-size.sql back, at whatever point. Nothing moves before the restart.
USE [master];
GO
SET NOCOUNT ON;
GO
{% include "layout/stop-if-unknown.sql" %}
{%- for statement in plan.undo %}
{{ statement }}
GO
{%- endfor %}
{% include "layout/mark.sql" %}
PRINT N'If there is no error above: restart the service now, then run undo-after-restart.sql.';
GO
SET NOEXEC OFF;
GO
