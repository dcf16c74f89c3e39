-- Rollback.
{% include "layout/managed/start.sql" %}
{%- for statement in plan.undo %}
{{ statement }}
GO
{%- endfor %}
SET NOEXEC OFF;
GO
