-- Sizes and growth, at the new place, right after the restart.
USE [master];
GO
SET NOCOUNT ON;
GO
{% include "layout/stop-unless-restarted.sql" %}
{%- for statement in plan.after_restart %}
{{ statement }}
GO
{%- endfor %}
PRINT N'If there is no error above: look now, 5-verify.sql.';
GO
SET NOEXEC OFF;
GO
