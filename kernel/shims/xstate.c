// SPDX-License-Identifier: Apache-2.0
/*
 * Floating point registers of hosts that have more than the kernel knows of.
 *
 * Kernels before 6.13 keep a process's extended state (XSAVE) in a buffer of 2696
 * bytes. A host whose CPU has AMX has an area of 11008 bytes, and takes no state that
 * is shorter: such a kernel panics with "ptrace set fp regs failed, errno = 14"
 * (upstream 3f17fed21491). What the buffer lacks are the tiles of AMX, and no process
 * can use these before it has asked Linux for them, which a guest cannot. So they are
 * in their initial state always: zero.
 *
 * Preloaded into the kernel's process, this file makes what is set as long as the host
 * wants it. Source: ptrace(2); arch/x86/kernel/fpu/regset.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef long (*ptrace_function)(enum __ptrace_request, pid_t, void *, void *);

static ptrace_function next;
static unsigned char whole[1 << 16];
static size_t host_size; /* 0 while the host has taken what the kernel has */

__attribute__((constructor)) static void find_next(void)
{
	next = (ptrace_function)dlsym(RTLD_NEXT, "ptrace");
}

static long set_whole(pid_t pid, void *kind, const struct iovec *short_state)
{
	struct iovec state = { .iov_base = whole, .iov_len = sizeof(whole) };

	if (!host_size) {
		if (next(PTRACE_GETREGSET, pid, kind, &state))
			return -1;
		host_size = state.iov_len;
		memset(whole, 0, sizeof(whole));
	}
	if (short_state->iov_len > host_size) {
		errno = EFAULT;
		return -1;
	}
	memcpy(whole, short_state->iov_base, short_state->iov_len);
	state.iov_len = host_size;
	return next(PTRACE_SETREGSET, pid, kind, &state);
}

/* The C library's function of this name. */
long ptrace(enum __ptrace_request request, ...)
{
	va_list rest;
	pid_t pid;
	void *address, *data;

	va_start(rest, request);
	pid = va_arg(rest, pid_t);
	address = va_arg(rest, void *);
	data = va_arg(rest, void *);
	va_end(rest);
	if (request == PTRACE_SETREGSET && (uintptr_t)address == NT_X86_XSTATE) {
		if (host_size)
			return set_whole(pid, address, data);
		if (next(request, pid, address, data) == 0)
			return 0;
		return errno == EFAULT ? set_whole(pid, address, data) : -1;
	}
	return next(request, pid, address, data);
}
