-- For a service that does not start with tempdb's new files; see rescue. Every file goes where the old
-- ones were; first the first data file and the first log, since the server may know no others in this
-- state. When the service runs again: undo.sql, restart, undo-after-restart.sql.
{%- for statement in plan.rescue %}
{{ statement }}
GO
{%- endfor %}
