// SPDX-License-Identifier: Apache-2.0
/*
 * The memory that a kernel needs to run its guest by seccomp: from 6.16 on.
 *
 * Each process of the guest is begun by a small program, the stub, which the kernel
 * writes into an executable file in memory, and to try whether seccomp works it asks for
 * two pages that are shared with a child. The filter allows neither, since no limit counts
 * such memory: a kernel that is taken over could fill the host's.
 *
 * Preloaded into the kernel's process, this file takes both from one file of a fixed
 * size, which `confine` made before the filter was set: the descriptor LONGFAT_STUB_FILE.
 * The stub stands at its beginning, and shared pages are given from its end, each once.
 */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STUB_BYTES (256 << 10)

static int the_file(void)
{
	const char *number = getenv("LONGFAT_STUB_FILE");

	if (number)
		return atoi(number);
	errno = ENOSYS;
	return -1;
}

/* What seals it is refused: it cannot grow anyway, and the kernel does not ask. */
int memfd_create(const char *name, unsigned int flags)
{
	(void)name;
	(void)flags;
	return the_file();
}

void *mmap64(void *address, size_t length, int rights, int flags, int file, off64_t offset)
{
	static typeof(mmap64) *next;
	static off64_t end;
	struct stat64 about;
	const int both = MAP_SHARED | MAP_ANONYMOUS;
	off64_t page = sysconf(_SC_PAGESIZE);

	if (!next)
		next = (typeof(mmap64) *)dlsym(RTLD_NEXT, "mmap64");
	if ((flags & both) != both)
		return next(address, length, rights, flags, file, offset);
	file = the_file();
	if (!end && !fstat64(file, &about))
		end = about.st_size & -page;
	if (end - STUB_BYTES < (off64_t)length) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	end = (end - (off64_t)length) & -page;
	return next(address, length, rights, flags & ~MAP_ANONYMOUS, file, end);
}
