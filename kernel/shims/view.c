// SPDX-License-Identifier: Apache-2.0
/*
 * Another view of the host's files, where no mount namespace can give one.
 *
 * A User-Mode Linux kernel takes the host's files by their paths. Preloaded into its
 * process, this file puts another path in the place of each: LONGFAT_VIEW holds lines
 * of two paths, "place<TAB>path of the host's", and what lies under a place is taken
 * from there; the longest place that fits decides, and all else comes from the line
 * whose place is "/". So guests find the same files at the same places in either
 * sandbox. It is no protection: that is Landlock's and the filter's.
 *
 * The kernel's file of memory is asked for as a file without a name, in TMPDIR. It is
 * there already, under the descriptor LONGFAT_MEMORY_FILE, and cannot grow: see `confine`.
 *
 * Whose files they are, is told as in a user namespace of one user: whoever runs us is
 * root, and all others are nobody.
 *
 * The filter refuses changes of a file's owner and mode, and its truncation by path. What
 * programs need of these is done here in other ways: a file that is opened for writing is
 * truncated, and to set what is set already is no change.
 *
 * Without LONGFAT_VIEW all is as it was.
 */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define NOBODY 65534

struct part {
	const char *place, *path;
	size_t length;
};

static struct part parts[256];
static int count;
/* A kernel's stacks are small, and it makes one call of these at a time. */
static char buffers[2][PATH_MAX];
static int memory = -1;
static const char *memory_folder;

static void refuse(const char *why)
{
	fprintf(stderr, "view.so: %s\n", why);
	_exit(126);
}

static int by_length(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return (one->length < other->length) - (one->length > other->length);
}

__attribute__((constructor)) static void read_view(void)
{
	const char *text = getenv("LONGFAT_VIEW"), *number = getenv("LONGFAT_MEMORY_FILE");
	char *rest, *line;

	if (!text)
		return;
	rest = strdup(text);
	if (!rest)
		refuse("no memory");
	while ((line = strsep(&rest, "\n"))) {
		char *tab = strchr(line, '\t');

		if (!*line)
			continue;
		if (!tab || count == sizeof(parts) / sizeof(*parts))
			refuse("cannot read LONGFAT_VIEW");
		*tab = 0;
		/* "/" is the beginning of every path, and so has no length of its own. */
		parts[count] = (struct part){ line, tab + 1, strcmp(line, "/") ? strlen(line) : 0 };
		count++;
	}
	qsort(parts, count, sizeof(*parts), by_length);
	memory_folder = getenv("TMPDIR");
	if (number && memory_folder) {
		memory = atoi(number);
		fcntl(memory, F_SETFD, FD_CLOEXEC);
	}
}

/*
 * Whether a part of a path is "..", which would lead out of the view. Only the options of a
 * mount of hostfs can have one: the kernel follows those of its programs itself.
 */
static int climbs(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/..")); at++)
		if (at[3] == '/' || !at[3])
			return 1;
	return 0;
}

/*
 * Return the host's path for one of the kernel's, in one of the buffers; NULL, and errno,
 * if it gets too long.
 */
static const char *real(const char *path, int which)
{
	char *buffer = buffers[which];

	if (!count || *path != '/')
		return path;
	while (path[1] == '/')
		path++;
	if (climbs(path)) {
		errno = ENOENT;
		return NULL;
	}
	for (int i = 0; i < count; i++) {
		const struct part *part = &parts[i];

		if (strncmp(path, part->place, part->length) ||
		    (path[part->length] != '/' && path[part->length]))
			continue;
		if (snprintf(buffer, PATH_MAX, "%s%s", part->path, path + part->length) >= PATH_MAX) {
			errno = ENAMETOOLONG;
			return NULL;
		}
		return buffer;
	}
	errno = ENOENT;
	return NULL;
}

/* The C library's function of a name, and not ours. */
#define NEXT(name)                                                  \
	({                                                          \
		static typeof(name) *next;                          \
		if (!next)                                          \
			next = (typeof(name) *)dlsym(RTLD_NEXT, #name); \
		next;                                               \
	})

/* A function whose first argument is a path. */
#define ONE_PATH(result, failed, name, parameters, ...)             \
	result name parameters                                      \
	{                                                           \
		const char *host_path = real(path, 0);              \
		return host_path ? NEXT(name)(host_path, ##__VA_ARGS__) : (failed); \
	}

/* A function of two paths. */
#define TWO_PATHS(name)                                             \
	int name(const char *from, const char *to)                  \
	{                                                           \
		const char *a = real(from, 0), *b = real(to, 1);    \
		return a && b ? NEXT(name)(a, b) : -1;              \
	}

ONE_PATH(int, -1, access, (const char *path, int mode), mode)
ONE_PATH(DIR *, NULL, opendir, (const char *path))
ONE_PATH(ssize_t, -1, readlink, (const char *path, char *to, size_t size), to, size)
ONE_PATH(int, -1, mkdir, (const char *path, mode_t mode), mode)
ONE_PATH(int, -1, rmdir, (const char *path))
ONE_PATH(int, -1, unlink, (const char *path))
ONE_PATH(int, -1, mknod, (const char *path, mode_t mode, dev_t device), mode, device)
ONE_PATH(int, -1, utimes, (const char *path, const struct timeval times[2]), times)
ONE_PATH(FILE *, NULL, fopen64, (const char *path, const char *mode), mode)
TWO_PATHS(link)
TWO_PATHS(rename)

static uid_t seen_user(uid_t user)
{
	return !count ? user : user == getuid() ? 0 : NOBODY;
}

static gid_t seen_group(gid_t group)
{
	return !count ? group : group == getgid() ? 0 : NOBODY;
}

static int seen(int result, struct stat64 *about)
{
	if (!result) {
		about->st_uid = seen_user(about->st_uid);
		about->st_gid = seen_group(about->st_gid);
	}
	return result;
}

int stat64(const char *path, struct stat64 *about)
{
	const char *host_path = real(path, 0);

	return host_path ? seen(NEXT(stat64)(host_path, about), about) : -1;
}

int lstat64(const char *path, struct stat64 *about)
{
	const char *host_path = real(path, 0);

	return host_path ? seen(NEXT(lstat64)(host_path, about), about) : -1;
}

int fstat64(int file, struct stat64 *about)
{
	return seen(NEXT(fstat64)(file, about), about);
}

/* Return 0 for an owner who is that already. */
static int keep_owner(const struct stat64 *about, uid_t user, gid_t group)
{
	if ((user == (uid_t)-1 || user == about->st_uid) &&
	    (group == (gid_t)-1 || group == about->st_gid))
		return 0;
	errno = EPERM;
	return -1;
}

int chown(const char *path, uid_t user, gid_t group)
{
	struct stat64 about;

	if (!count)
		return NEXT(chown)(path, user, group);
	return lstat64(path, &about) ? -1 : keep_owner(&about, user, group);
}

int fchown(int file, uid_t user, gid_t group)
{
	struct stat64 about;

	if (!count)
		return NEXT(fchown)(file, user, group);
	return fstat64(file, &about) ? -1 : keep_owner(&about, user, group);
}

/* Likewise for a mode. */
static int keep_mode(const struct stat64 *about, mode_t mode)
{
	if ((about->st_mode & 07777) == (mode & 07777))
		return 0;
	errno = EPERM;
	return -1;
}

int chmod(const char *path, mode_t mode)
{
	struct stat64 about;

	if (!count)
		return NEXT(chmod)(path, mode);
	return stat64(path, &about) ? -1 : keep_mode(&about, mode);
}

int fchmod(int file, mode_t mode)
{
	struct stat64 about;

	if (!count)
		return NEXT(fchmod)(file, mode);
	return fstat64(file, &about) ? -1 : keep_mode(&about, mode);
}

int truncate64(const char *path, off64_t length)
{
	int file, result;

	if (!count)
		return NEXT(truncate64)(path, length);
	file = open64(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	result = ftruncate64(file, length);
	close(file);
	return result;
}

/* What a link says is the guest's own. */
int symlink(const char *to, const char *path)
{
	const char *host_path = real(path, 0);

	return host_path ? NEXT(symlink)(to, host_path) : -1;
}

int statfs64(const char *path, struct statfs64 *about)
{
	const char *host_path = real(path, 0);
	int result = host_path ? NEXT(statfs64)(host_path, about) : -1;

	if (!result && memory >= 0 && !strcmp(path, memory_folder))
		about->f_type = TMPFS_MAGIC;
	return result;
}

int statx(int folder, const char *restrict path, int flags, unsigned int mask,
	  struct statx *restrict about)
{
	const char *host_path = real(path, 0);
	int result = host_path ? NEXT(statx)(folder, host_path, flags, mask, about) : -1;

	if (!result) {
		about->stx_uid = seen_user(about->stx_uid);
		about->stx_gid = seen_group(about->stx_gid);
	}
	return result;
}

int open64(const char *path, int flags, ...)
{
	const char *host_path = real(path, 0);
	mode_t mode = 0;

	if (flags & (O_CREAT | __O_TMPFILE)) {
		va_list rest;

		va_start(rest, flags);
		mode = va_arg(rest, mode_t);
		va_end(rest);
	}
	if ((flags & O_TMPFILE) == O_TMPFILE && memory >= 0)
		return fcntl(memory, F_DUPFD_CLOEXEC, 0);
	return host_path ? NEXT(open64)(host_path, flags, mode) : -1;
}

/* The kernel makes one call with paths by its number. */
long syscall(long number, ...)
{
	long arguments[6];
	va_list rest;

	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(rest, long);
	va_end(rest);
	if (number == SYS_renameat2) {
		for (int i = 0; i < 2; i++) {
			const char *path = real((const char *)arguments[2 * i + 1], i);

			if (!path)
				return -1;
			arguments[2 * i + 1] = (long)path;
		}
	}
	return NEXT(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3],
			     arguments[4], arguments[5]);
}
