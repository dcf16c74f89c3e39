@echo off
rem For a service that does not start because of tempdb's files. Run as administrator, in this folder.
rem /f: as little as possible; /T3608: no database but master. One connection only: stop all that connects.
chcp 65001 >nul
cd /d "%~dp0"
net stop "{{ service.agent() }}"
net stop "{{ service.name }}"
net start "{{ service.name }}" /f /T3608 || exit /b 1
{{ service.sqlcmd }} -i rescue.sql || echo rescue.sql failed, see above. What it changed before that is in effect.
net stop "{{ service.name }}" || exit /b 1
net start "{{ service.name }}" || exit /b 1
echo The service runs. Now undo.sql, a restart, undo-after-restart.sql.
