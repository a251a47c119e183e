// SPDX-License-Identifier: Apache-2.0
/*
 * Start a program where the host allows what a container runtime's default seccomp profile
 * does to a container without capabilities: no namespaces, no mounts, no change of a
 * process's personality, and, if the first argument is `old`, no Landlock.
 *
 *   container new|old PROGRAM [ARGUMENT]...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACES 0x7e020000 /* CLONE_NEW... */
#define DENY(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define DENY_CALL(number, code) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), DENY(code)

int main(int argc, char **argv)
{
	int is_old = argc > 1 && !strcmp(argv[1], "old");
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY_CALL(SYS_unshare, EPERM),
		DENY_CALL(SYS_setns, EPERM),
		DENY_CALL(SYS_mount, EPERM),
		DENY_CALL(SYS_umount2, EPERM),
		DENY_CALL(SYS_pivot_root, EPERM),
		DENY_CALL(SYS_keyctl, EPERM),
		DENY_CALL(SYS_bpf, EPERM),
		DENY_CALL(SYS_personality, EPERM),
		DENY_CALL(435 /* clone3 */, ENOSYS),
		DENY_CALL(is_old ? 444 /* landlock_create_ruleset */ : -1, ENOSYS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
		DENY(EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(*code), .filter = code };

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("container");
		return 126;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
