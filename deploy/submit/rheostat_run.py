"""``rheostat run`` under ``spark-submit``: the first argument is the application's script.

spark-submit [--deploy-mode cluster] --conf spark.rheostat.limits.max=8 rheostat_run.py app.py --own
"""

import sys

from rheostat.cli import main

sys.argv[1:] = ["run", *sys.argv[1:2], "--", *sys.argv[2:]]
main()
