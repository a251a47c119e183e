"""Kill longfat at random moments, and look for what is left: `python -m tests.killing`.

Everything runs in a PID namespace and with a /tmp and a /dev/shm of its own, so whatever
is found there afterwards was left behind by longfat. All other files are read-only in
there. Needs user namespaces, as longfat does, and unshare(1) of util-linux.
"""
