// SPDX-License-Identifier: Apache-2.0
/*
 * Knows whether a test runs, and with how many streams.
 *
 * Both ends of iperf3 are in the same state, of which each end sends the next to the other, as one
 * byte over the control connection. A test runs from TEST_RUNNING until any other state: an
 * interrupted client sends another than one that has finished. A server resets its test after
 * each, however it ended, so it is ready for the next.
 */
#include "test.h"

#include <string.h>
#include <unistd.h>

static struct iperf_test *test;
static int is_running, streams, keeps_data;

int lf_is_running(void)
{
	return is_running;
}

int lf_is_alone(void)
{
	return is_running && streams == 1;
}

int lf_is_data(int fd)
{
	return is_running && fd >= 0 && fd < FD_SETSIZE && fd != iperf_get_control_socket(test);
}

int lf_keeps_data(void)
{
	return keeps_data;
}

static void note_state(int state)
{
	is_running = state == TEST_RUNNING;
	if (is_running)
		lf_forget_closed();
}

struct iperf_test *iperf_new_test(void)
{
	NEXT(iperf_new_test);
	return test = next();
}

/* Data is kept with -F FILE or --file FILE, and not with other options that have an F. */
int iperf_parse_arguments(struct iperf_test *of, int count, char **words)
{
	NEXT(iperf_parse_arguments);
	for (int i = 1; i < count; i++)
		if (words[i][0] == '-' && words[i][1] == '-')
			keeps_data |= !strncmp(words[i], "--fi", 4);
		else if (words[i][0] == '-')
			keeps_data |= !!strchr(words[i], 'F');
	return next(of, count, words);
}

void iperf_add_stream(struct iperf_test *of, struct iperf_stream *stream)
{
	NEXT(iperf_add_stream);
	streams++;
	next(of, stream);
}

void iperf_reset_test(struct iperf_test *of)
{
	NEXT(iperf_reset_test);
	is_running = streams = 0;
	next(of);
}

int iperf_set_send_state(struct iperf_test *of, signed char state)
{
	NEXT(iperf_set_send_state);
	note_state(state);
	return next(of, state);
}

/* A state that comes is one byte of the control connection, read on its own. */
ssize_t read(int fd, void *data, size_t length)
{
	ssize_t size;

	NEXT(read);
	size = next(fd, data, length);
	if (length == 1 && size == 1 && test && fd == iperf_get_control_socket(test))
		note_state(*(signed char *)data);
	return size;
}
