"""A tool that is a program: arguments as JSON on stdin, the result as JSON on stdout.

An exit code other than 0 is an error, and what stands on stderr is what the model reads about it.
"""

import json
import sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

arguments = json.load(sys.stdin)
zone = arguments["zone"]
try:
    here = timezone.utc if zone == "UTC" else ZoneInfo(zone)
except (KeyError, ValueError, OSError):
    sys.exit(f"there is no time zone {zone}; use an IANA name such as Europe/Oslo")

now = datetime.now(here).replace(microsecond=0)
json.dump({"zone": zone, "time": now.isoformat(), "weekday": now.strftime("%A")}, sys.stdout)
