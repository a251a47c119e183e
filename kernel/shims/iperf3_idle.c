// SPDX-License-Identifier: Apache-2.0
/*
 * Lets iperf3 sleep while its test does not run.
 *
 * Before TEST_RUNNING and after TEST_END has crossed the control connection,
 * the sending end of iperf3 before 3.16 waits for the other end by select(2)
 * with its data sockets in the write set. They are writable, so select returns
 * at once, again and again: for a round trip at the start, and at the end until
 * the queue ahead has drained or a lost message was sent again. On a real host
 * that burns a CPU for a moment; in virtual time it can be the greater part of
 * a run's wall time, since each turn moves the clock by no more than the cost
 * of reading it.
 *
 * Preloaded into both ends, this file takes the write set away while the test
 * does not run, and lets select wait for at least a millisecond. The sender
 * then starts at the moment when TEST_RUNNING arrives, and not up to a turn
 * (under a microsecond) later. tests/belief says what that is worth.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/select.h>
#include <unistd.h>

/* States, sent as one byte each over the control connection; iperf_api.h of iperf3. */
enum { TEST_RUNNING = 2, TEST_END = 4 };
enum { LEAST_WAIT_US = 1000 };

static int running;

/* One byte on its own is a state: data comes in blocks. */
static void note_state(const void *data, ssize_t length)
{
	char state = length == 1 ? *(const char *)data : 0;

	if (state == TEST_RUNNING)
		running = 1;
	else if (state == TEST_END)
		running = 0;
}

ssize_t read(int fd, void *data, size_t length)
{
	static ssize_t (*next)(int, void *, size_t);
	ssize_t count;

	if (!next)
		next = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	count = next(fd, data, length);
	if (length == 1)
		note_state(data, count);
	return count;
}

ssize_t write(int fd, const void *data, size_t length)
{
	static ssize_t (*next)(int, const void *, size_t);

	if (!next)
		next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	note_state(data, (ssize_t)length);
	return next(fd, data, length);
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *wait)
{
	static int (*next)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	struct timeval least = { .tv_sec = 0, .tv_usec = LEAST_WAIT_US };

	if (!next)
		next = (int (*)(int, fd_set *, fd_set *, fd_set *, struct timeval *))
			dlsym(RTLD_NEXT, "select");
	if (!running) {
		if (writes)
			FD_ZERO(writes);
		if (wait && !wait->tv_sec && wait->tv_usec < LEAST_WAIT_US)
			wait = &least;
	}
	return next(count, reads, writes, others, wait);
}
