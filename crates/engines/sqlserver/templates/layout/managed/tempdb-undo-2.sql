-- The rest of the rollback. Files that were added have to be empty: fail over first.
{% include "layout/managed/start.sql" %}
{%- for statement in plan.after_undo %}
{{ statement }}
GO
{%- endfor %}
SET NOEXEC OFF;
GO
