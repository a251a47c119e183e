// SPDX-License-Identifier: Apache-2.0
/*
 * longfat's changes of iperf3 3.12: what its parts know of the running test.
 *
 * They are a library, which iperf3 needs in place of its own (libiperf.so.0), and which needs that
 * one in turn. A function that both have is this library's: also for libiperf itself, which calls
 * each of its global functions through a table that the loader fills.
 */
#ifndef LONGFAT_TEST_H
#define LONGFAT_TEST_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <iperf_api.h>
#include <stdint.h>
#include <sys/select.h>
#include <time.h>

/* The function of this name that this library's one stands before. */
#define NEXT(name) static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name)

/* What libiperf's own headers declare, and its public one does not: iperf_time.h and net.h. */
struct iperf_time {
	uint32_t secs, usecs;
};
enum { NET_HARDERROR = -2 };
int iperf_time_now(struct iperf_time *time);
int Nread(int fd, char *data, size_t count, int protocol);

/* test.c: whether the test runs; whether it also has one stream and no more; whether a socket is
 * one of its data sockets; and whether its arguments allow data to be thrown away. */
int lf_is_running(void);
int lf_is_alone(void);
int lf_is_data(int fd);
int lf_keeps_data(void);

/* receive.c: the other end has closed this data socket. A new test has none such. */
int lf_is_closed(int fd);
void lf_forget_closed(void);

/* clock.c: before a select, which returns how long the clock is still good; and after it. */
int lf_before_select(void);
void lf_after_select(int good, const struct timespec *all, const struct timespec *left);

#endif
