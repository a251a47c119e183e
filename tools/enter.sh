#!/bin/sh
# Runs a command in a root. tools/roots.py calls it, as root, as PID 1 of namespaces of
# its own (mount, PID, UTS), so that whatever is mounted and started ends with it.
#
#   tools/enter.sh CACHE BASE SCRATCH APT COMMAND...
#
# The root is an overlay: below it CACHE/BASE, which is only read, above it SCRATCH/upper.
# SCRATCH/host is /mnt in there, and APT is where packages are downloaded to. All three
# are relative to CACHE, since a path in the options of an overlay must have no colon.
set -eu
cd "$1"
base=$2 scratch=$3 apt=$4
shift 4
root=$scratch/root
hostname longfat-matrix
mount -t overlay overlay -o "lowerdir=$base,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
mount --bind "$scratch/host" "$root/mnt"
mount --bind "$apt" "$root/var/cache/apt/archives"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
# The host's would keep what is left there, and show the terminals of the host.
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
cd "$root"
pivot_root . .
umount -l .
cd /
# Not by exec: as PID 1, this shell also reaps the orphans that tests look for.
status=0
"$@" || status=$?
exit $status
