// SPDX-License-Identifier: Apache-2.0
/*
 * Waits where iperf3 would call select(2) over and over.
 *
 * Before TEST_RUNNING and after TEST_END has crossed the control connection, the sending end waits
 * for the other one by a select that has its data sockets in the write set. They are writable, so
 * it returns at once, and again: for a round trip at the start, and at the end until the queue
 * ahead has drained or a lost message was sent again. Here the write set is empty while the test
 * does not run, and select waits for a millisecond at least. So the sender starts when
 * TEST_RUNNING arrives, and not up to a turn (under a microsecond) later.
 *
 * When the other end has closed a data connection but not the control connection, the data socket
 * stays readable. Here it is taken out of the read set.
 */
#include "test.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { MIN_WAIT_NS = 1000000 };

int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *wait)
{
	struct timespec all, left;
	int ready, good;

	if (!writes || count > FD_SETSIZE) {
		/* Not a turn of a test: libiperf looks whether a socket is closed. */
		NEXT(select);
		return next(count, reads, writes, others, wait);
	}
	for (int fd = 0; reads && fd < count; fd++)
		if (lf_is_closed(fd))
			FD_CLR(fd, reads);
	if (!lf_is_running())
		FD_ZERO(writes);
	good = lf_before_select();
	if (!wait)
		return pselect(count, reads, writes, others, NULL, NULL);
	all.tv_sec = wait->tv_sec;
	all.tv_nsec = wait->tv_usec * 1000;
	if (!lf_is_running() && !all.tv_sec && all.tv_nsec < MIN_WAIT_NS)
		all.tv_nsec = MIN_WAIT_NS;
	left = all;
	/* The system call itself: the C library's keeps what is left, in nanoseconds, to itself. */
	ready = syscall(SYS_pselect6, count, reads, writes, others, &left, NULL);
	wait->tv_sec = left.tv_sec;
	wait->tv_usec = left.tv_nsec / 1000;
	if (ready > 0)
		lf_after_select(good, &all, &left);
	return ready;
}
