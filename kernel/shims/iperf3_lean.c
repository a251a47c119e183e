// SPDX-License-Identifier: Apache-2.0
/*
 * Spares iperf3 the system calls that tell it nothing.
 *
 * In a machine a system call costs more than all that iperf3 itself does, and
 * nearly all of a run's calls are iperf3's. Several kinds of them are not needed.
 *
 * Waiting for nothing. Before TEST_RUNNING and after TEST_END has crossed the
 * control connection, the sending end of iperf3 before 3.16 waits for the other
 * end by select(2) with its data sockets in the write set. They are writable, so
 * select returns at once, again and again: for a round trip at the start, and at
 * the end until the queue ahead has drained or a lost message was sent again.
 * Here the write set is taken away while the test does not run, and select waits
 * for at least a millisecond. The sender then starts at the moment when
 * TEST_RUNNING arrives, and not up to a turn (under a microsecond) later.
 *
 * Turning round and round without sending. From 3.16 on each stream has a thread, which
 * calls iperf_send_mt() in a loop. When all is sent that was to be sent (-n, -k), that
 * returns without having done anything, until the main thread notices, which it does when
 * its next timer fires. So it is in 3.16 and 3.17 whenever a rate (-b, which UDP always
 * has) allows no more, until a timer of the main thread, each millisecond, finds that it
 * does; there the function reads the clock, and nothing else. No timer can fire while a
 * thread computes, so after such a turn the thread waits until the main thread has handled
 * its timers, a millisecond at most. The function is replaced: by the dynamic linker, or,
 * where libiperf is linked with -Bsymbolic-functions, as in Ubuntu, in the calls of it.
 *
 * Waiting for what another thread reads. The server of 3.16 has UDP's data socket in the
 * read set of its main thread still, which so turns round and round from each datagram's
 * arrival until the thread of the stream has read it. Here a socket that another thread
 * reads is taken out of that set.
 *
 * Reading past the end. When the other end has closed a data connection but not the control
 * connection, the data socket stays readable, and the receiver reads nothing from it again and
 * again. Here such a socket is taken out of the read set, and a thread that reads one waits for
 * a millisecond each time.
 *
 * Reading what is not there. The receiver fills a block of 128 KB by as many
 * reads as it takes: after one that was not filled it reads once more, to be
 * told that there is nothing. Here it is told so without asking; after the next
 * select a read asks again.
 *
 * Looking at a clock that stands still. No virtual time passes while a program
 * computes, but for the fraction of a microsecond that the kernel lets each look at
 * the clock cost, and the one of a failed read, in order that a program that waits by
 * looking again and again gets somewhere. So between two selects the clock need be
 * looked at once; and how long a select has waited, the kernel says itself, by what is
 * left of its time. From that the time is reckoned, and after a few turns looked at
 * again: it lags by some microseconds at most.
 *
 * Copying what nobody looks at. The receiver counts its data and forgets it, unless it
 * was told to keep it in a file (-F). So the kernel is told to throw it away
 * (MSG_TRUNC, which TCP knows), where a host's copies take no virtual time
 * (net.host_cpu.copy_ps).
 *
 * Sparing the copies changes no result by a byte, but where calls take virtual time: to
 * find out takes a few of them, once. By the rest, what both ends do happens up to some
 * microseconds earlier than without this file. docs/performance.md says what that is
 * worth: nothing that can be seen, but where one process serves several streams. There
 * those microseconds keep streams at a full queue from marching in step, so such a test
 * keeps its reads and its clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The state of a running test. States are sent as one byte each over the control connection;
 * iperf_api.h of iperf3. */
enum { TEST_RUNNING = 2 };
enum { LEAST_WAIT_US = 1000, MOST_TURNS = 16, MOST_REPEATS = 16 };
enum { NS_A_SECOND = 1000000000 };

static int running;

/* The control connection: the socket of the last state that came before the test ran. A server
 * has another one for each test. */
static int control = -1;

/* Whether the test has one stream and no more; known from its first select. */
enum { NOT_KNOWN, ONE, SEVERAL };
static int streams;

/* Of a data socket: whether reading it never waits, and whether all that has come was read;
 * whether the other end has closed it; and whether it is of TCP. */
enum { UNKNOWN, WAITS, NEVER_WAITS };
static char kind[FD_SETSIZE];
static char drained[FD_SETSIZE];
static char closed[FD_SETSIZE];
enum { NOT_TCP = 1, TCP };
static char protocol[FD_SETSIZE];

/* Whether a thread is the main one, which has the control connection; and whether a
 * socket's data is read by another. */
static __thread int is_main;
static char read_elsewhere[FD_SETSIZE];

/* A thread's clock, and for how many selects and readings it is still good enough. */
static __thread struct timespec now;
static __thread int turns, repeats;

/* Whether a thread has sent since its turn began, and how often it has read the clock. */
static __thread int has_sent, looks;

/* How often select was called, which the main thread does when it has handled its timers;
 * and how many threads wait for that. */
static int selects, waiting;

/* One byte on its own is a state, unless a test runs whose blocks are that short (-l 1), or the
 * server turns away another client. Any state but one ends the test: an interrupted client sends
 * another than one that has finished, and so does a server. */
static void note_state(int fd, char state)
{
	if (running && fd != control)
		return;
	control = fd;
	is_main = 1;
	running = state == TEST_RUNNING;
	if (running) {
		turns = 0;
		memset(read_elsewhere, 0, sizeof(read_elsewhere));
		memset(closed, 0, sizeof(closed));
		streams = NOT_KNOWN;
		memset(kind, UNKNOWN, sizeof(kind));
		memset(protocol, UNKNOWN, sizeof(protocol));
	}
	if (fd >= 0 && fd < FD_SETSIZE)
		protocol[fd] = NOT_TCP;
}

/* The other end of the control connection has gone: a client that was killed sends no state. */
static void note_end(int fd)
{
	if (fd == control) {
		running = 0;
		control = -1;
	}
}

/* How many sockets of a set are connections: a server has one that listens, too. */
static int connections(const fd_set *set)
{
	int found = 0;

	for (int fd = 0; set && fd < FD_SETSIZE; fd++) {
		int listens = 0;
		socklen_t size = sizeof(listens);

		if (FD_ISSET(fd, set) &&
		    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0)
			found += !listens;
	}
	return found;
}

/* Beside the control connection there is one for each stream, to read or to write. */
static void note_streams(const fd_set *reads, const fd_set *writes)
{
	if (running && streams == NOT_KNOWN)
		streams = connections(reads) + connections(writes) == 2 ? ONE : SEVERAL;
}

static int never_waits(int fd)
{
	if (kind[fd] == UNKNOWN)
		kind[fd] = fcntl(fd, F_GETFL) & O_NONBLOCK ? NEVER_WAITS : WAITS;
	return kind[fd] == NEVER_WAITS;
}

/* Read the beginning of a file; return how much of it there is, without what does not fit. */
static ssize_t read_file(const char *name, char *words, size_t size)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t count = file < 0 ? -1 : syscall(SYS_read, file, words, size - 1);

	close(file);
	words[count < 0 ? 0 : count] = 0;
	return count;
}

/* Whether data must be copied: it is kept (-F FILE, --file FILE), or a copy takes time. */
static int copies_data(void)
{
	static int known = -1;
	char words[4096], *word;
	ssize_t size;

	if (known >= 0)
		return known;
	known = read_file("/proc/sys/net/host_cpu/copy_ps", words, sizeof(words)) < 0 ||
		strcmp(words, "0\n") != 0;
	size = read_file("/proc/self/cmdline", words, sizeof(words));
	if (size < 0 || size == sizeof(words) - 1)
		known = 1;
	for (word = words; word < words + size; word += strlen(word) + 1)
		if (word[0] == '-' && (word[1] == '-' ? !strncmp(word, "--fi", 4) : !!strchr(word, 'F')))
			known = 1;
	return known;
}

static int is_tcp(int fd)
{
	int number = 0;
	socklen_t size = sizeof(number);

	if (protocol[fd] == UNKNOWN) {
		getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &number, &size);
		protocol[fd] = number == IPPROTO_TCP ? TCP : NOT_TCP;
	}
	return protocol[fd] == TCP;
}

/* The other end has closed a data connection; a datagram may be empty. */
static void note_closed(int fd)
{
	const struct timespec turn = { 0, LEAST_WAIT_US * 1000 };
	int number = IPPROTO_UDP;
	socklen_t size = sizeof(number);

	getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &number, &size);
	if (number == IPPROTO_UDP)
		return;
	closed[fd] = 1;
	if (!is_main)
		syscall(SYS_nanosleep, &turn, NULL);
}

typedef ssize_t read_call(int, void *, size_t);
typedef ssize_t write_call(int, const void *, size_t);
typedef int clock_call(clockid_t, struct timespec *);

ssize_t read(int fd, void *data, size_t length)
{
	static read_call *next;
	int is_data = running && fd != control && fd >= 0 && fd < FD_SETSIZE;
	ssize_t count;

	if (!next)
		next = (read_call *)dlsym(RTLD_NEXT, "read");
	if (is_data && !is_main)
		read_elsewhere[fd] = 1;
	if (is_data && streams == ONE && drained[fd]) {
		drained[fd] = 0;
		errno = EAGAIN;
		return -1;
	}
	if (is_data && is_tcp(fd) && !copies_data())
		count = recv(fd, data, length, MSG_TRUNC);
	else
		count = next(fd, data, length);
	if (is_data && count > 0 && (size_t)count < length)
		drained[fd] = never_waits(fd);
	else if (length == 1 && count == 1)
		note_state(fd, *(const char *)data);
	else if (is_data && count == 0 && length > 0)
		note_closed(fd);
	else if (count == 0 || (count < 0 && errno == ECONNRESET))
		note_end(fd);
	return count;
}

ssize_t write(int fd, const void *data, size_t length)
{
	static write_call *next;

	if (!next)
		next = (write_call *)dlsym(RTLD_NEXT, "write");
	has_sent = 1;
	if (length == 1)
		note_state(fd, *(const char *)data);
	return next(fd, data, length);
}

/* A server that waited in vain for its client ends the test without a message. */
int close(int fd)
{
	note_end(fd);
	if (fd >= 0 && fd < FD_SETSIZE)
		closed[fd] = 0;
	return (int)syscall(SYS_close, fd);
}

ssize_t sendfile(int out, int in, off_t *at, size_t length)
{
	has_sent = 1;
	return syscall(SYS_sendfile, out, in, at, length);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	has_sent = 1;
	return syscall(SYS_sendmsg, fd, message, flags);
}

typedef int send_call(void *);

static send_call *next_send;

int iperf_send_mt(void *stream)
{
	const struct timespec turn = { 0, LEAST_WAIT_US * 1000 };
	int status, before = selects;

	if (!next_send)
		next_send = (send_call *)dlsym(RTLD_NEXT, "iperf_send_mt");
	has_sent = 0;
	looks = 0;
	status = next_send(stream);
	if (!has_sent && looks <= 1 && running) {
		waiting++;
		syscall(SYS_futex, &selects, FUTEX_WAIT_PRIVATE, before, &turn, NULL, 0);
		waiting--;
	}
	return status;
}

/* In a function of libiperf, have each call of iperf_send_mt() go to the one above. */
static void redirect_calls(const char *name)
{
	enum { CALL = 0xe8, SIZE = 5 };
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char *code = dlsym(RTLD_NEXT, name);
	const ElfW(Sym) *symbol;
	Dl_info info;

	if (!code || !dladdr1(code, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return;
	for (unsigned char *at = code; at + SIZE <= code + symbol->st_size; at++) {
		intptr_t target = (intptr_t)iperf_send_mt - (intptr_t)(at + SIZE);
		uintptr_t start = (uintptr_t)at & -page;
		size_t length = (uintptr_t)at + SIZE - start;
		int32_t by;

		memcpy(&by, at + 1, sizeof(by));
		if (*at != CALL || at + SIZE + by != (unsigned char *)next_send ||
		    target != (int32_t)target)
			continue;
		by = (int32_t)target;
		if (mprotect((void *)start, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
			return;
		memcpy(at + 1, &by, sizeof(by));
		mprotect((void *)start, length, PROT_READ | PROT_EXEC);
	}
}

__attribute__((constructor)) static void replace_send(void)
{
	next_send = (send_call *)dlsym(RTLD_NEXT, "iperf_send_mt");
	if (!next_send)
		return;
	redirect_calls("iperf_client_worker_run");
	redirect_calls("iperf_server_worker_run");
}

static void add_to_now(struct timespec all, struct timespec left)
{
	now.tv_sec += all.tv_sec - left.tv_sec;
	now.tv_nsec += all.tv_nsec - left.tv_nsec;
	if (now.tv_nsec < 0) {
		now.tv_nsec += NS_A_SECOND;
		now.tv_sec--;
	} else if (now.tv_nsec >= NS_A_SECOND) {
		now.tv_nsec -= NS_A_SECOND;
		now.tv_sec++;
	}
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *wait)
{
	struct timespec all, left;
	int found, good;

	selects++;
	if (waiting)
		syscall(SYS_futex, &selects, FUTEX_WAKE_PRIVATE, waiting, NULL, NULL, 0);
	for (int fd = 0; running && is_main && reads && fd < count && fd < FD_SETSIZE; fd++)
		if (read_elsewhere[fd] || closed[fd])
			FD_CLR(fd, reads);
	if (count > 0 && count <= FD_SETSIZE)
		memset(drained, 0, (size_t)count);
	note_streams(reads, writes);
	if (!running && writes)
		FD_ZERO(writes);
	if (!wait) {
		turns = 0;
		return pselect(count, reads, writes, others, NULL, NULL);
	}
	all.tv_sec = wait->tv_sec;
	all.tv_nsec = wait->tv_usec * 1000;
	if (!running && !all.tv_sec && all.tv_nsec < LEAST_WAIT_US * 1000)
		all.tv_nsec = LEAST_WAIT_US * 1000;
	left = all;
	/* The handler of a signal does not return here, and needs the time at which it is called. */
	good = turns;
	turns = 0;
	/* The system call itself: the C library keeps what is left to itself. */
	found = (int)syscall(SYS_pselect6, count, reads, writes, others, &left, NULL);
	wait->tv_sec = left.tv_sec;
	wait->tv_usec = left.tv_nsec / 1000;
	repeats = MOST_REPEATS;
	if (good > 0 && found > 0) {
		turns = good - 1;
		add_to_now(all, left);
	}
	return found;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static clock_call *next;
	int status;

	if (!next)
		next = (clock_call *)dlsym(RTLD_NEXT, "clock_gettime");
	looks++;
	if (!running || streams != ONE || clock != CLOCK_MONOTONIC)
		return next(clock, time);
	if (turns > 0 && repeats > 0) {
		repeats--;
		*time = now;
		return 0;
	}
	status = next(clock, time);
	if (status == 0) {
		now = *time;
		turns = MOST_TURNS;
		repeats = MOST_REPEATS;
	}
	return status;
}
