// SPDX-License-Identifier: Apache-2.0
/*
 * A heap that begins at the same place on every host.
 *
 * A User-Mode Linux kernel takes what lies between its own data and the start of
 * its heap for memory of the machine, and the guest sizes its hash tables and TCP's
 * memory by that. The host puts the heap at a random place, and not every host lets
 * a process switch that off; the C library's own needs change its end.
 *
 * Preloaded into the kernel's process, this file says that the heap begins where
 * the kernel's data ends, and has no size. The system call filter refuses brk(2),
 * so the C library takes its memory from mmap(2) instead.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <unistd.h>

static int note_end(struct dl_phdr_info *program, size_t size, void *end)
{
	(void)size;
	for (int i = 0; i < program->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &program->dlpi_phdr[i];
		uintptr_t here = program->dlpi_addr + part->p_vaddr + part->p_memsz;

		if (part->p_type == PT_LOAD && here > *(uintptr_t *)end)
			*(uintptr_t *)end = here;
	}
	return 1; /* the first is the program itself */
}

/* The C library's function of this name; only its caller outside of the library sees ours. */
void *sbrk(intptr_t increment)
{
	uintptr_t end = 0, page = sysconf(_SC_PAGESIZE);

	if (increment) {
		errno = ENOMEM;
		return (void *)-1;
	}
	dl_iterate_phdr(note_end, &end);
	return (void *)((end + page - 1) & -page);
}
