/*
 * Keeps known values in all vector registers while it makes system calls, is
 * interrupted by signals whose handler uses the same registers, faults pages in, and
 * others of its kind run beside it; and looks whether each value is still there.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 300, REGISTERS = 16, PAGES = 8, PAGE = 4096 };

static volatile sig_atomic_t signals;

#define LOAD(n) "movdqu " #n "*16(%[in]), %%xmm" #n "\n\t"
#define STORE(n) "movdqu %%xmm" #n ", " #n "*16(%[out])\n\t"
#define EACH(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15)

/* Loads the registers, makes one system call, and stores what they hold then. */
static long call(long number, long a, long b, long c, const void *in, void *out)
{
	long result;

	__asm__ volatile(EACH(LOAD) "syscall\n\t" EACH(STORE)
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), [in] "r"(in), [out] "r"(out)
			 : "rcx", "r11", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
	return result;
}

static void on_signal(int number)
{
	static const char junk[REGISTERS * 16] = { 1, 2, 3 };
	char out[REGISTERS * 16];

	(void)number;
	signals++;
	call(SYS_getpid, 0, 0, 0, junk, out);
}

static void check(int turn, const char *what, const void *in, const void *out)
{
	if (memcmp(in, out, REGISTERS * 16)) {
		printf("turn %d: %s changed a register\n", turn, what);
		exit(1);
	}
}

static void *keep(void *argument)
{
	uint64_t in[REGISTERS * 2], out[REGISTERS * 2];
	struct timespec moment = { 0, 200000 }, now;
	int pipes[2];
	char bytes[64];

	if (pipe(pipes))
		exit(2);
	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = 0; i < REGISTERS * 2; i++)
			in[i] = (uint64_t)(uintptr_t)argument * 1000003u + turn * 64u + i;
		call(SYS_write, pipes[1], (long)bytes, sizeof(bytes), in, out);
		check(turn, "write", in, out);
		/* Into pages that are not there yet: the kernel maps them meanwhile. */
		char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		call(SYS_read, pipes[0], (long)(pages + PAGE - 32), sizeof(bytes), in, out);
		check(turn, "read", in, out);
		call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, in, out);
		check(turn, "clock_gettime", in, out);
		call(SYS_nanosleep, (long)&moment, 0, 0, in, out); /* signals come in here */
		check(turn, "nanosleep", in, out);
		pages[5 * PAGE] = 1;
		call(SYS_getppid, 0, 0, 0, in, out);
		check(turn, "getppid", in, out);
		munmap(pages, PAGES * PAGE);
		if (turn % 50 == 0) {
			pid_t child = (pid_t)call(SYS_fork, 0, 0, 0, in, out);

			check(turn, child ? "fork" : "being forked", in, out);
			if (!child) {
				call(SYS_getpid, 0, 0, 0, in, out);
				check(turn, "a child's getpid", in, out);
				_exit(0);
			}
			int status;

			if (waitpid(child, &status, 0) == child && status)
				exit(1);
		}
	}
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 700 }, { 0, 700 } };
	pthread_t other;
	int status;

	setvbuf(stdout, NULL, _IONBF, 0);
	pid_t child = fork();

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	keep((void *)(child ? 1l : 2l));
	if (!child)
		return 0;
	/* Two threads share one host process. */
	if (pthread_create(&other, NULL, keep, (void *)3l))
		return 2;
	keep((void *)4l);
	pthread_join(other, NULL);
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	printf("kept, %s signals\n", signals > TURNS / 10 ? "many" : "few");
	return 0;
}
