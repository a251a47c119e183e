// SPDX-License-Identifier: Apache-2.0
/*
 * Start a program with fewer rights: resource limits, Landlock, system call filter.
 *
 *   confine [OPTION VALUE]... -- PROGRAM [ARGUMENT]...
 *
 *   --limit NAME=NUMBER   a resource limit, soft and hard: as, data, fsize, ...
 *   --set NAME=VALUE      a variable of the program's environment, which has no others
 *   --file NAME=NUMBER    a file in memory of that many bytes, which cannot grow and may
 *                         be executed; its descriptor is the variable NAME
 *   --memory PATH=NUMBER  a file system in memory of that many bytes, in huge pages, over
 *                         PATH; where none can be mounted, PATH stays what it is
 *   --read PATH           files and folders that may be read
 *   --execute PATH        those that may also be executed
 *   --write PATH          those that may be read and written
 *   --write-own PATH      likewise, but no symbolic links may be made there
 *   --landlock yes        fail where the host has no Landlock; without it, go on
 *   --filter HEX          a BPF program for seccomp(2): struct sock_filter, in hex
 *
 * The program has no capabilities, also root's; confine needs CAP_SYS_ADMIN for --memory and
 * CAP_SETPCAP to give it up for good. confine is the last program before the
 * kernel. Each step is checked, and if one fails the program is not started: status 126,
 * and the reason on standard error. It is in C because a start of Python costs a third of
 * a short run.
 *
 * Sources: landlock(7), seccomp(2), setrlimit(2).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <linux/landlock.h> is younger than some of the hosts that this is built on. */
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

struct ruleset_attributes {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

struct path_rule {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	MAKE_SYM = 1 << 12,
	REFER = 1 << 13,    /* since version 2 */
	TRUNCATE = 1 << 14, /* since version 3 */
};

#define ON_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE)
#define READ (READ_FILE | READ_DIR)
/* Neither devices nor FIFOs nor sockets. */
#define WRITE (READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SYM | \
	       REFER | TRUNCATE)

#define CREATE_RULESET_VERSION 1
#define RULE_PATH_BENEATH 1
#define TCP 3    /* bind and connect, since version 4 */
#define SCOPES 3 /* abstract Unix sockets and signals, since version 6 */

static void fail(const char *what, const char *which)
{
	fprintf(stderr, "confine: %s %s: %s\n", what, which, strerror(errno));
	exit(126);
}

static void fail_usage(const char *word)
{
	fprintf(stderr, "confine: cannot use '%s'\n", word);
	exit(126);
}

static void set_limit(const char *text)
{
	static const struct {
		const char *name;
		int resource;
	} all[] = {
		{ "as", RLIMIT_AS },	     { "core", RLIMIT_CORE },
		{ "data", RLIMIT_DATA },     { "fsize", RLIMIT_FSIZE },
		{ "memlock", RLIMIT_MEMLOCK }, { "msgqueue", RLIMIT_MSGQUEUE },
		{ "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC },
	};
	const char *value = strchr(text, '=');

	for (size_t i = 0; value && i < sizeof(all) / sizeof(*all); i++) {
		struct rlimit limit, now;
		char *end;

		if (strncmp(text, all[i].name, value - text) || all[i].name[value - text])
			continue;
		errno = 0;
		limit.rlim_max = strtoull(value + 1, &end, 10);
		if (*end || end == value + 1 || errno)
			break;
		/* What is lower already stays: only root may raise it. */
		if (getrlimit(all[i].resource, &now))
			fail("limit", text);
		if (now.rlim_max < limit.rlim_max)
			limit.rlim_max = now.rlim_max;
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(all[i].resource, &limit))
			fail("limit", text);
		return;
	}
	fail_usage(text);
}

/* Return a new ruleset and the file rights that it handles; -1 without Landlock. */
static int make_ruleset(uint64_t *handled)
{
	struct ruleset_attributes attributes = { 0 };
	int version, ruleset;
	/* An older Linux takes a shorter structure. */
	size_t size = sizeof(uint64_t);

	version = syscall(__NR_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	if (version < 1)
		return -1;
	attributes.handled_access_fs = (1 << 13) - 1;
	if (version >= 2)
		attributes.handled_access_fs |= REFER;
	if (version >= 3)
		attributes.handled_access_fs |= TRUNCATE;
	if (version >= 4) {
		attributes.handled_access_net = TCP;
		size = 2 * sizeof(uint64_t);
	}
	if (version >= 6) {
		attributes.scoped = SCOPES;
		size = 3 * sizeof(uint64_t);
	}
	*handled = attributes.handled_access_fs;
	ruleset = syscall(__NR_landlock_create_ruleset, &attributes, size, 0);
	if (ruleset < 0)
		fail("landlock", "ruleset");
	return ruleset;
}

static void allow(int ruleset, const char *path, uint64_t access)
{
	struct path_rule rule = { .allowed_access = access };
	struct stat about;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0 || fstat(rule.parent_fd, &about))
		fail("landlock", path);
	if (!S_ISDIR(about.st_mode))
		rule.allowed_access &= ON_FILES;
	if (syscall(__NR_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0))
		fail("landlock", path);
	close(rule.parent_fd);
}

/* The program's environment, whole. */
static char *environment[64];

static void set_variable(char *text)
{
	size_t count = 0;

	while (environment[count])
		count++;
	if (!strchr(text, '=') || count + 1 >= sizeof(environment) / sizeof(*environment))
		fail_usage(text);
	environment[count] = text;
}

#ifndef MFD_EXEC
#define MFD_EXEC 0x10
#endif

/* Take NAME=NUMBER apart. */
static char *take_size(const char *text, long long *size)
{
	const char *value = strchr(text, '=');
	char *end, *name;

	*size = value ? strtoll(value + 1, &end, 10) : 0;
	if (*size <= 0 || *end)
		fail_usage(text);
	name = strndup(text, value - text);
	if (!name)
		fail("memory for", text);
	return name;
}

static void make_file(const char *text)
{
	long long size;
	char *name = take_size(text, &size), *variable;
	int file = memfd_create("file", MFD_ALLOW_SEALING | MFD_EXEC);

	if (file < 0 && errno == EINVAL) /* before 6.3 they all may be executed */
		file = memfd_create("file", MFD_ALLOW_SEALING);
	if (file < 0 || ftruncate(file, size) ||
	    fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) ||
	    asprintf(&variable, "%s=%d", name, file) < 0)
		fail("file", text);
	set_variable(variable);
}

/*
 * Most hosts give files in memory no huge pages (shmem_enabled is "never"), unless a mount
 * option says so. With them a fault of the host brings 2 MB, and the TLB covers more. Without
 * them the machine is slower and gives the same results, so a failed mount is no error.
 */
static void mount_memory(const char *text)
{
	long long size;
	char *path = take_size(text, &size), *options;

	if (asprintf(&options, "mode=0755,size=%lld,huge=within_size", size) < 0)
		fail("memory", text);
	mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options);
}

static int nibble(char digit)
{
	const char *digits = "0123456789abcdef", *found = strchr(digits, digit);

	if (!digit || !found)
		fail_usage("--filter");
	return found - digits;
}

static void set_filter(const char *hex)
{
	size_t size = strlen(hex) / 2;
	struct sock_fprog program = { .len = size / sizeof(struct sock_filter) };
	unsigned char *bytes = malloc(size);
	unsigned int flags = 0;

	if (!bytes || !size || strlen(hex) % (2 * sizeof(struct sock_filter)))
		fail_usage("--filter");
	for (size_t i = 0; i < size; i++)
		bytes[i] = nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]);
	program.filter = (struct sock_filter *)bytes;
#ifdef SECCOMP_FILTER_FLAG_SPEC_ALLOW
	/*
	 * Before 5.16, Linux takes whoever has a filter for one who needs its mitigation of
	 * speculative stores, too. No secret of the host's is in these address spaces.
	 */
	flags |= SECCOMP_FILTER_FLAG_SPEC_ALLOW;
#endif
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program))
		fail("seccomp", "filter");
}

/* Root's program would get those of the bounding set when it starts. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) && errno != EPERM)
			fail("prctl", "capabilities");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &header, none))
		fail("capset", "none");
}

int main(int argc, char **argv)
{
	uint64_t handled = 0;
	int ruleset = make_ruleset(&handled), at;
	const char *filter = NULL;

	for (at = 1; at < argc && strcmp(argv[at], "--"); at += 2) {
		const char *option = argv[at];
		char *value = argv[at + 1];

		if (at + 1 >= argc)
			fail_usage(option);
		if (!strcmp(option, "--limit")) {
			set_limit(value);
		} else if (!strcmp(option, "--set")) {
			set_variable(value);
		} else if (!strcmp(option, "--file")) {
			make_file(value);
		} else if (!strcmp(option, "--memory")) {
			mount_memory(value);
		} else if (!strcmp(option, "--filter")) {
			filter = value;
		} else if (!strcmp(option, "--landlock")) {
			if (ruleset < 0)
				fail("landlock", "is needed");
		} else if (!strcmp(option, "--read")) {
			if (ruleset >= 0)
				allow(ruleset, value, READ & handled);
		} else if (!strcmp(option, "--execute")) {
			if (ruleset >= 0)
				allow(ruleset, value, (READ | EXECUTE) & handled);
		} else if (!strcmp(option, "--write")) {
			if (ruleset >= 0)
				allow(ruleset, value, WRITE & handled);
		} else if (!strcmp(option, "--write-own")) {
			if (ruleset >= 0)
				allow(ruleset, value, WRITE & ~MAKE_SYM & handled);
		} else {
			fail_usage(option);
		}
	}
	if (at + 1 >= argc || !filter)
		fail_usage(at < argc ? argv[at] : "no --");
	drop_capabilities();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fail("prctl", "no_new_privs");
	if (ruleset >= 0) {
		if (syscall(__NR_landlock_restrict_self, ruleset, 0))
			fail("landlock", "restrict");
		close(ruleset);
	}
	set_filter(filter);
	execve(argv[at + 1], argv + at + 1, environment);
	fail("cannot start", argv[at + 1]);
}
