// SPDX-License-Identifier: Apache-2.0
/*
 * Receives TCP's data with fewer and cheaper reads.
 *
 * iperf3 fills a block of 128 KB by as many reads as it takes. After one that was not filled it
 * reads once more, and gets EAGAIN. Here that read is left out: the next select finds out whether
 * more has come. A test with several streams keeps it: its virtual time, under a microsecond, is
 * what keeps several streams at a full queue from becoming synchronized (docs/performance.md).
 *
 * iperf3 counts what it has received, and forgets it, unless it has to keep it in a file (-F).
 * Here the kernel discards it (MSG_TRUNC, tcp(7)), where the copies of a host take no virtual time
 * (net.host_cpu.copy_ps).
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char closed[FD_SETSIZE];

int lf_is_closed(int fd)
{
	return closed[fd] && lf_is_data(fd);
}

void lf_forget_closed(void)
{
	memset(closed, 0, sizeof(closed));
}

static int copies_are_free(void)
{
	static int known = -1;
	char text[2] = "";
	int file;

	if (known < 0) {
		file = open("/proc/sys/net/host_cpu/copy_ps", O_RDONLY | O_CLOEXEC);
		known = file >= 0 && read(file, text, 2) == 2 && !memcmp(text, "0\n", 2);
		close(file);
	}
	return known;
}

int Nread(int fd, char *data, size_t count, int protocol)
{
	size_t done = 0;
	int flags;

	if (protocol != Ptcp || !lf_is_data(fd)) {
		NEXT(Nread);
		return next(fd, data, count, protocol);
	}
	flags = !lf_keeps_data() && copies_are_free() ? MSG_TRUNC : 0;
	/* A data socket never waits while the test runs: iperf3 has made it so. */
	while (done < count) {
		ssize_t size = recv(fd, data + done, count - done, flags);

		if (size < 0 && errno != EINTR && errno != EAGAIN)
			return NET_HARDERROR;
		if (size == 0)
			closed[fd] = 1;
		if (size <= 0)
			break;
		done += size;
		if (lf_is_alone() && done < count)
			break;
	}
	return done;
}
