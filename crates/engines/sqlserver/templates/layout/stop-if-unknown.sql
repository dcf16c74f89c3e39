{#- Stops where tempdb has a file that the scripts know nothing of, or in a place that is neither the old nor the new. -#}
IF EXISTS (SELECT 1 FROM sys.master_files WHERE database_id = DB_ID(N'tempdb') AND NOT (
       {% for (name, paths) in known -%}
       (name = {{ name.text()|tsql }} AND physical_name IN ({% for path in paths %}{{ path }}{% if !loop.last %}, {% endif %}{% endfor %}))
    {%- if !loop.last %}
    OR {% endif %}
    {%- endfor %}))
BEGIN
    RAISERROR(N'tempdb has a file that this script does not know. Run 1-check.sql, which says more.', 16, 1);
    SET NOEXEC ON;
END;
GO
