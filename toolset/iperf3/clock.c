// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the clock once between two selects.
 *
 * No virtual time passes while a program computes, but for the fraction of a microsecond that the
 * kernel lets each reading of the clock cost, in order that a program that waits by reading it
 * again and again gets somewhere. So one reading between two selects is enough; and how long a
 * select has waited, the kernel says by what is left of its time. From that the time is computed,
 * and after some turns it is read again: it lags by some microseconds at most.
 *
 * A test with several streams keeps its readings, for the reason in receive.c.
 */
#include "test.h"

enum { MAX_TURNS = 16, MAX_REPEATS = 16, NS_PER_S = 1000000000 };

/* The time, and for how many selects and readings it is still good. */
static struct timespec now;
static int turns, repeats;

int iperf_time_now(struct iperf_time *time)
{
	if (!lf_is_alone() || turns == 0 || repeats == 0) {
		if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
			return -1;
		turns = lf_is_alone() ? MAX_TURNS : 0;
		repeats = MAX_REPEATS;
	} else {
		repeats--;
	}
	time->secs = now.tv_sec;
	time->usecs = now.tv_nsec / 1000;
	return 0;
}

/* A handler of a signal does not return to the select, and needs the time at which it is called:
 * until the select returns the clock is not good. */
int lf_before_select(void)
{
	int good = turns;

	turns = 0;
	repeats = MAX_REPEATS;
	return good;
}

void lf_after_select(int good, const struct timespec *all, const struct timespec *left)
{
	if (good == 0)
		return;
	turns = good - 1;
	now.tv_sec += all->tv_sec - left->tv_sec;
	now.tv_nsec += all->tv_nsec - left->tv_nsec;
	if (now.tv_nsec < 0) {
		now.tv_nsec += NS_PER_S;
		now.tv_sec--;
	} else if (now.tv_nsec >= NS_PER_S) {
		now.tv_nsec -= NS_PER_S;
		now.tv_sec++;
	}
}
