"""Change a rate while other traffic runs."""

import subprocess
import time

time.sleep(0.5)
LINE = "tc qdisc change dev r1-eth1 root handle 1: tbf rate 5mbit burst 16k limit 60k"
subprocess.run(LINE.split(), check=True)
