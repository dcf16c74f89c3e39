-- Rollback: moves all rows to the files that were there, which takes its time, and removes the others.
-- Sizes stay as they are: shrinking data fragments it.
{% include "layout/managed/start.sql" %}
{% include "layout/managed/stop-if-absent.sql" %}
{%- for statement in undo %}
{{ statement }}
GO
{%- endfor %}
SET NOEXEC OFF;
GO
