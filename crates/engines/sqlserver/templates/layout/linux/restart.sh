#!/bin/sh
# Restarts the service; every connection ends. Run as root. A container is restarted from its host, with the
# new folders mounted: docker restart NAME
set -eu
systemctl restart {{ service.name|sh }}
systemctl --no-pager status {{ service.name|sh }}
