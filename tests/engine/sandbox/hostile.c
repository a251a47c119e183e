// SPDX-License-Identifier: Apache-2.0
/*
 * Takes the kernel's place in a sandbox and tries to reach the host.
 *
 *   hostile folder=PATH victim=PID port=NUMBER [run=PATH] attempt
 *   hostile disk|sparse|files|inodes|forks|memory|wall     exhaust the host
 *
 * PATH is a folder of the host's that a machine must not see, with a file `secret` and a
 * listening Unix socket `socket`; PID is a process of the host's, NUMBER a TCP port that
 * something listens to there; `run` is the folder that may be written. For each attempt a line `out NAME` or `held NAME` is
 * printed: an attempt is held unless it did what it set out to do. Without a sandbox,
 * `compare` in place of `attempt` shows that most of them are good ones.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Where the kernel keeps its clock, which longfat reads. */
volatile unsigned long long time_travel_time;

static char run[4096] = "/tmp/longfat/run";
static char folder[3000], secret[4096], unix_socket[4096];
static pid_t victim;
static int port;

static int opens(const char *path, int flags)
{
	int file = open(path, flags | O_CLOEXEC, 0600);

	if (file < 0)
		return 0;
	close(file);
	return 1;
}

static int reads(const char *path)
{
	char byte;
	int file = open(path, O_RDONLY | O_CLOEXEC), got;

	got = file >= 0 && read(file, &byte, 1) == 1;
	if (file >= 0)
		close(file);
	return got;
}

/* Whether a file of the host can be read where the machine has one of its own, which begins so. */
static int reads_other(const char *path, const char *own)
{
	char text[64] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC), got;

	got = file >= 0 && read(file, text, sizeof(text) - 1) > 0 && strncmp(text, own, strlen(own));
	if (file >= 0)
		close(file);
	return got;
}

/* Whether a folder has anything in it. */
static int lists(const char *path)
{
	DIR *entries = opendir(path);
	struct dirent *entry;
	int count = 0;

	while (entries && (entry = readdir(entries)))
		count += entry->d_name[0] != '.';
	if (entries)
		closedir(entries);
	return count > 0;
}

static const char *in_run(const char *name)
{
	static char path[5000];

	snprintf(path, sizeof(path), "%s/%s", run, name);
	return path;
}

static int makes_socket(int family, int type, int protocol)
{
	int file = socket(family, type, protocol);

	if (file < 0)
		return 0;
	close(file);
	return 1;
}

static int connects_unix(const char *path, int abstract)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int file = socket(AF_UNIX, SOCK_STREAM, 0), done;
	size_t length = strlen(path) + 1;

	strncpy(to.sun_path + abstract, path, sizeof(to.sun_path) - 2);
	done = file >= 0 && !connect(file, (struct sockaddr *)&to,
				     offsetof(struct sockaddr_un, sun_path) + length);
	if (file >= 0)
		close(file);
	return done;
}

static int in_child(int (*what)(void))
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(what() ? 42 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 42;
}

static long call(long number, long a, long b, long c, long d)
{
	return syscall(number, a, b, c, d, 0, 0);
}

/* ------------------------------------------------------------------- the attempts */

static int read_secret(void) { return reads(secret); }
static int write_secret(void) { return opens(secret, O_WRONLY | O_APPEND); }
static int list_folder(void) { return lists(folder); }
static int stat_secret(void) { struct stat about; return !stat(secret, &about); }
static int make_beside_secret(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/made", folder);
	return opens(path, O_WRONLY | O_CREAT);
}
static int rename_secret(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/renamed", folder);
	return !rename(secret, path) && !rename(path, secret);
}
static int chmod_secret(void) { return !chmod(secret, 0600); }
static int truncate_secret(void) { struct stat s; return !stat(secret, &s) && !truncate(secret, s.st_size); }
static int touch_secret(void) { return !utimensat(AT_FDCWD, secret, NULL, 0); }
static int by_symbolic_link(void)
{
	char path[5000];

	strcpy(path, in_run("link"));
	unlink(path);
	return !symlink(secret, path) && reads(path);
}
static int by_hard_link(void)
{
	char path[5000];

	strcpy(path, in_run("hard"));
	unlink(path);
	return !link(secret, path) && reads(path);
}
static int by_own_root(void)
{
	char path[5000];

	snprintf(path, sizeof(path), "/proc/self/root%s", secret);
	return reads(path);
}
static int by_root_of_1(void) { return lists("/proc/1/root/home") || lists("/proc/1/root/root"); }
static int by_dots(void)
{
	char path[5000];

	snprintf(path, sizeof(path), "%s/../../../../..%s", run, secret);
	return reads(path);
}
static int list_root_home(void) { return lists("/root"); }
static int list_run(void) { return lists("/run"); }
static int list_var_log(void) { return lists("/var/log") || lists("/var/lib"); }
static int list_proc(void) { return lists("/proc/1") || lists("/proc/self"); }
static int list_sys(void) { return lists("/sys"); }
static int read_shadow(void) { return reads("/etc/shadow"); }
static int read_hostname(void) { return reads_other("/etc/hostname", "longfat\n"); }
static int read_machine_id(void) { return reads("/etc/machine-id"); }
static int read_resolvers(void) { return reads_other("/etc/resolv.conf", "# There is no name server"); }
static int read_environ(void) { return reads("/proc/1/environ") || reads("/proc/self/environ"); }
static int inherited_environment(void) { return getenv("LF_HOSTILE_SECRET") != NULL; }
static int write_own_memory(void) { return opens("/proc/self/mem", O_RDWR); }
static int read_kallsyms(void) { return reads("/proc/kallsyms"); }
static int read_cmdlines(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", victim);
	return reads(path);
}
static int write_usr(void) { return opens("/usr/hostile", O_CREAT | O_WRONLY) && !unlink("/usr/hostile"); }
static int write_top(void) { return opens("/hostile", O_CREAT | O_WRONLY) && !unlink("/hostile"); }
static int write_etc(void) { return opens("/etc/hostile", O_CREAT | O_WRONLY) && !unlink("/etc/hostile"); }
static int write_kernel(void) { return opens("/tmp/longfat/kernel/linux", O_WRONLY) ||
				       opens("/tmp/longfat/kernel/new", O_WRONLY | O_CREAT); }
static int open_terminal(void) { return opens("/dev/tty", O_RDWR) || opens("/dev/ptmx", O_RDWR); }
static int open_memory_device(void) { return opens("/dev/mem", O_RDONLY) || opens("/dev/kmsg", O_RDONLY); }
static int open_device(void) { return opens("/dev/null", O_RDWR) || opens("/dev/fuse", O_RDWR) ||
				      opens("/dev/net/tun", O_RDWR) || opens("/dev/kvm", O_RDWR); }
static int make_fifo(void) { return !mknod(in_run("fifo"), S_IFIFO | 0600, 0) && !unlink(in_run("fifo")); }
static int make_socket_file(void) { return !mknod(in_run("sock"), S_IFSOCK | 0600, 0) && !unlink(in_run("sock")); }
static int make_device(void) { return !mknod(in_run("dev"), S_IFCHR | 0600, 0x103) && opens(in_run("dev"), O_RDWR); }
static int make_device_at(void) { return !mknodat(AT_FDCWD, in_run("dev2"), S_IFBLK | 0600, 0x700); }
static int set_user_id(void)
{
	struct stat about;
	int made = opens(in_run("suid"), O_CREAT | O_WRONLY);

	made = made && !chmod(in_run("suid"), 04755) && !stat(in_run("suid"), &about) && about.st_mode & 04000;
	unlink(in_run("suid"));
	return made;
}
static int create_set_user_id(void)
{
	struct stat about;
	int file = open(in_run("suid2"), O_CREAT | O_WRONLY, 06755), made;

	made = file >= 0 && !fstat(file, &about) && about.st_mode & 06000;
	unlink(in_run("suid2"));
	return made;
}
static int fchmod_set_user_id(void)
{
	struct stat about;
	int file = open(in_run("suid3"), O_CREAT | O_WRONLY, 0755), made;

	made = file >= 0 && !fchmod(file, 02755) && !fstat(file, &about) && about.st_mode & 02000;
	unlink(in_run("suid3"));
	return made;
}
static int set_capability(void)
{
	/* struct vfs_cap_data, version 2, cap_net_raw */
	uint32_t data[5] = { 0x02000001, 1 << 13, 0, 0, 0 };
	int made = opens(in_run("caps"), O_CREAT | O_WRONLY) &&
		   !call(SYS_setxattr, (long)in_run("caps"), (long)"security.capability", (long)data, sizeof(data));

	unlink(in_run("caps"));
	return made;
}
static int set_attribute(void)
{
	int made = opens(in_run("attr"), O_CREAT | O_WRONLY) &&
		   !call(SYS_setxattr, (long)in_run("attr"), (long)"user.hostile", (long)"x", 1);

	unlink(in_run("attr"));
	return made;
}
static int by_file_handle(void)
{
	struct {
		struct file_handle head;
		char space[128];
	} handle = { .head.handle_bytes = 128 };
	int mount;

	return !name_to_handle_at(AT_FDCWD, "/usr", &handle.head, &mount, 0);
}
static int mount_proc(void) { return !mount("proc", "/proc", "proc", 0, NULL) && !umount("/proc"); }
static int mount_memory(void) { return !mount("t", in_run(""), "tmpfs", 0, NULL) && !umount(in_run("")); }
static int remount_root(void) { return !mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL); }
static int unmount(void) { return !umount2("/usr", MNT_DETACH); }
static int change_root(void) { return !chroot(run) && !chroot("."); }
static int new_mount_api(void) { return call(SYS_fsopen, (long)"tmpfs", 0, 0, 0) >= 0; }
static int clone_tree(void) { return call(SYS_open_tree, AT_FDCWD, (long)"/usr", 1, 0) >= 0; }
static int new_user_namespace(void) { return !unshare(CLONE_NEWUSER); }
static int new_mount_namespace(void) { return !unshare(CLONE_NEWNS); }
static int clone_user_namespace(void)
{
	long child = call(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0);

	if (!child)
		_exit(0);
	return child > 0 && waitpid(child, NULL, 0) == child;
}
static int clone3_user_namespace(void)
{
	uint64_t arguments[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
	long child = call(SYS_clone3, (long)arguments, sizeof(arguments), 0, 0);

	if (!child)
		_exit(0);
	return child > 0 && waitpid(child, NULL, 0) == child;
}
static int enter_namespace(void)
{
	int file = open("/proc/1/ns/net", O_RDONLY);

	return file >= 0 && !setns(file, 0);
}
static int unix_stream(void) { return makes_socket(AF_UNIX, SOCK_STREAM, 0); }
static int inet_stream(void) { return makes_socket(AF_INET, SOCK_STREAM, 0); }
static int inet6_datagram(void) { return makes_socket(AF_INET6, SOCK_DGRAM, 0); }
static int netlink(void) { return makes_socket(AF_NETLINK, SOCK_RAW, 0); }
static int packet(void) { return makes_socket(AF_PACKET, SOCK_RAW, 0); }
static int raw_ip(void) { return makes_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
static int vsock(void) { return makes_socket(AF_VSOCK, SOCK_STREAM, 0); }
static int crypto_socket(void) { return makes_socket(AF_ALG, SOCK_SEQPACKET, 0); }
static int socket_pair(void) { int two[2]; return !socketpair(AF_UNIX, SOCK_STREAM, 0, two); }
static int datagram_pair(void) { int two[2]; return !socketpair(AF_UNIX, SOCK_DGRAM, 0, two); }
static int seqpacket_pair(void) { int two[2]; return !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, two); }
static int sends_by_path(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct iovec data = { "x", 1 };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &data,
				  .msg_iovlen = 1 };
	int two[2], types[] = { SOCK_DGRAM, SOCK_STREAM };

	snprintf(to.sun_path, sizeof(to.sun_path), "%s.datagrams", unix_socket);
	for (int type = 0; type < 2; type++)
		if (!socketpair(AF_UNIX, types[type], 0, two) && sendmsg(two[0], &message, 0) == 1)
			return 1;
	return 0;
}
static int unix_connect(void) { return connects_unix(unix_socket, 0); }
static int abstract_connect(void) { return connects_unix(folder + 1, 1); }
static int tcp_connect(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int file = socket(AF_INET, SOCK_STREAM, 0);

	return file >= 0 && !connect(file, (struct sockaddr *)&to, sizeof(to));
}
static int io_uring(void)
{
	uint32_t parameters[30] = { 0 };

	return call(SYS_io_uring_setup, 4, (long)parameters, 0, 0) >= 0;
}
static int aio(void) { long context = 0; return !call(SYS_io_setup, 4, (long)&context, 0, 0); }
static int trace_victim(void) { return !ptrace(PTRACE_ATTACH, victim, 0, 0) && waitpid(victim, NULL, __WALL) > 0 && !ptrace(PTRACE_DETACH, victim, 0, 0); }
static int seize_victim(void) { return !ptrace(PTRACE_SEIZE, victim, 0, 0); }
static int trace_parent(void) { return !ptrace(PTRACE_SEIZE, getppid(), 0, 0); }
static int read_victims_memory(void)
{
	char here;
	struct iovec to = { &here, 1 }, from = { (void *)0x400000, 1 };

	/* No such address is as good as read: the process was found. */
	return process_vm_readv(victim, &to, 1, &from, 1, 0) == 1 || errno == EFAULT;
}
static int write_victims_memory(void)
{
	char here = 0;
	struct iovec from = { &here, 1 }, to = { (void *)8, 1 };

	return process_vm_writev(victim, &from, 1, &to, 1, 0) == 1 || errno == EFAULT;
}
static int signal_victim(void) { return !kill(victim, 0); }
static int signal_thread(void) { return !call(SYS_tgkill, victim, victim, 0, 0); }
static int queue_signal(void) { siginfo_t info = { .si_code = SI_QUEUE }; return !call(SYS_rt_sigqueueinfo, victim, 0, (long)&info, 0); }
static int pid_descriptor(void) { return call(SYS_pidfd_open, victim, 0, 0, 0) >= 0; }
static int own_pid_descriptor(void) { return call(SYS_pidfd_open, getpid(), 0, 0, 0) >= 0; }
static int victims_limits(void) { struct rlimit64 l; return !call(SYS_prlimit64, victim, RLIMIT_NOFILE, 0, (long)&l); }
static int victims_priority(void) { errno = 0; return getpriority(PRIO_PROCESS, victim) != -1 || !errno; }
static int other_cpus(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	return !sched_setaffinity(0, sizeof(all), &all);
}
static int real_time(void) { struct sched_param p = { 0 }; return !sched_setscheduler(0, SCHED_BATCH, &p); }
static int be_nice(void) { return !setpriority(PRIO_PROCESS, 0, 5); }
static int compare_processes(void) { return call(SYS_kcmp, getpid(), getpid(), 0, 0) == 0; }
static int bpf(void) { char a[128] = { 0 }; *(int *)a = 1; *(int *)(a + 4) = 4; *(int *)(a + 8) = 4; *(int *)(a + 12) = 1; return call(SYS_bpf, 0, (long)a, 48, 0) >= 0; }
static int keyring(void) { return call(SYS_keyctl, 0, -3, 1, 0) > 0; }
static int add_key(void) { return syscall(SYS_add_key, "user", "hostile", "x", 1, -2) > 0; }
static int request_key(void) { return call(SYS_keyctl, 1, 0, 0, 0) > 0; }
static int performance_events(void)
{
	uint64_t attributes[16] = { 0 };

	((uint32_t *)attributes)[0] = 1;
	((uint32_t *)attributes)[1] = 128;
	attributes[5] = 1 | 1 << 5; /* disabled, exclude_kernel */
	return syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0) >= 0;
}
static int user_faults(void) { return call(SYS_userfaultfd, O_CLOEXEC | 1, 0, 0, 0) >= 0; }
static int memory_file(void) { return call(SYS_memfd_create, (long)"x", 0, 0, 0) >= 0; }
static int watch_files(void) { return call(SYS_inotify_init1, 0, 0, 0, 0) >= 0; }
static int watch_all_files(void) { return call(SYS_fanotify_init, 0x200, 0, 0, 0) >= 0; }
static int shared_memory(void) { return call(SYS_shmget, 0, 4096, 0600, 0) >= 0; }
static int message_queue(void) { return call(SYS_msgget, 0, 0600, 0, 0) >= 0; }
static int posix_queue(void) { return call(SYS_mq_open, (long)"hostile", O_CREAT | O_RDWR, 0600, 0) >= 0; }
static int kernel_log(void) { char text[64]; return call(SYS_syslog, 3, (long)text, sizeof(text), 0) >= 0; }
static int set_clock(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); return !clock_settime(CLOCK_REALTIME, &t); }
static int read_clock_adjustment(void) { char t[208] = { 0 }; return call(SYS_adjtimex, (long)t, 0, 0, 0) >= 0; }
static int personality(void) { return call(SYS_personality, 0x0020000, 0, 0, 0) >= 0; }
static int host_name(void) { return !sethostname("hostile", 7); }
static int io_ports(void) { return !call(SYS_ioperm, 0x80, 1, 1, 0); }
static int become_root(void) { return !setuid(0); }
static int become_another(void) { return !setresuid(1234, 1234, 1234); }
static int change_groups(void) { return !call(SYS_setgroups, 0, 0, 0, 0); }
static int read_capabilities(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { 0 };

	return !call(SYS_capget, (long)&head, (long)data, 0, 0) && data[0].effective;
}
static int set_capabilities(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { 0 };

	return !call(SYS_capset, (long)&head, (long)data, 0, 0);
}
static int run_a_program(void)
{
	char *arguments[] = { "true", NULL };
	int status;
	pid_t child = fork();

	if (!child) {
		execv("/usr/bin/true", arguments);
		_exit(1);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}
static int terminal_input(void) { return !ioctl(1, TIOCSTI, "x") || !ioctl(0, TIOCSTI, "x"); }
static int other_ioctl(void) { int n = 1; return !ioctl(1, FIONBIO, &n); }
static int raise_limit(void) { struct rlimit l = { 1 << 20, 1 << 20 }; return !setrlimit(RLIMIT_NOFILE, &l); }
static int dump_core(void) { struct rlimit l; return !getrlimit(RLIMIT_CORE, &l) && l.rlim_max; }
static int ask_for_tracer(void) { return !prctl(PR_SET_PTRACER, -1, 0, 0, 0); }
static int keep_capabilities(void) { return !prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0); }
static int old_calls_now(void)
{
	long result;

	/* getpid() of 32-bit x86, which a filter for 64 bits could overlook */
	asm volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "cc");
	return result > 0;
}
static int old_calls(void) { return in_child(old_calls_now); }
static int x32_calls_now(void) { return call(0x40000000 + SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0) >= 0; }
static int x32_calls(void) { return in_child(x32_calls_now); }
static int splice_files(void) { int p[2]; int f = open("/usr/bin/env", O_RDONLY); return f >= 0 && !pipe(p) && splice(f, 0, p[1], 0, 16, 0) > 0; }
static int copy_range(void) { int f = open("/usr/bin/env", O_RDONLY), t = open(in_run("copy"), O_CREAT | O_RDWR, 0600); int n = f >= 0 && t >= 0 && copy_file_range(f, 0, t, 0, 16, 0) > 0; unlink(in_run("copy")); return n; }
static int lock_memory(void) { return !call(SYS_mlock2, (long)run, 16, 0, 0); }
static int namespaced_time(void) { return !unshare(0x80); }
static int leave_for_good(void) { return !call(SYS_acct, 0, 0, 0, 0); }
static int swap(void) { return !call(SYS_swapoff, (long)"/hostile", 0, 0, 0) || errno == ENOENT; }
static int load_module(void) { return !call(SYS_delete_module, (long)"hostile", 0, 0, 0) || errno == ENOENT; }
static int by_seccomp(void) { uint32_t action = 0x7fff0000; return !call(SYS_seccomp, 2, 0, (long)&action, 0); }
static int shared_anonymous(void) { return mmap(0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }

#define ATTEMPT(name) { #name, name, 0 }
#define RISKY(name) { #name, name, 1 } /* without a sandbox it could harm the host */
static const struct {
	const char *name;
	int (*attempt)(void);
	int is_risky;
} attempts[] = {
	ATTEMPT(read_secret), ATTEMPT(write_secret), ATTEMPT(list_folder), ATTEMPT(stat_secret),
	ATTEMPT(make_beside_secret), ATTEMPT(rename_secret), ATTEMPT(chmod_secret),
	ATTEMPT(truncate_secret), ATTEMPT(touch_secret), ATTEMPT(by_symbolic_link),
	ATTEMPT(by_hard_link), ATTEMPT(by_own_root), ATTEMPT(by_root_of_1), ATTEMPT(by_dots),
	ATTEMPT(list_root_home), ATTEMPT(list_run), ATTEMPT(list_var_log), ATTEMPT(list_proc),
	ATTEMPT(list_sys), ATTEMPT(read_shadow), ATTEMPT(read_hostname),
	ATTEMPT(read_machine_id), ATTEMPT(read_resolvers), ATTEMPT(read_environ),
	ATTEMPT(inherited_environment), ATTEMPT(write_own_memory), ATTEMPT(read_kallsyms),
	ATTEMPT(read_cmdlines), RISKY(write_usr), RISKY(write_top), RISKY(write_etc),
	ATTEMPT(write_kernel), ATTEMPT(open_terminal), ATTEMPT(open_memory_device),
	ATTEMPT(open_device), ATTEMPT(make_fifo), ATTEMPT(make_socket_file), ATTEMPT(make_device),
	ATTEMPT(make_device_at), ATTEMPT(set_user_id), ATTEMPT(create_set_user_id),
	ATTEMPT(fchmod_set_user_id), ATTEMPT(set_capability), ATTEMPT(set_attribute),
	ATTEMPT(by_file_handle), RISKY(mount_proc), RISKY(mount_memory), RISKY(remount_root),
	RISKY(unmount), RISKY(change_root), RISKY(new_mount_api), ATTEMPT(clone_tree),
	ATTEMPT(new_user_namespace), ATTEMPT(new_mount_namespace), ATTEMPT(clone_user_namespace),
	ATTEMPT(clone3_user_namespace), ATTEMPT(enter_namespace), ATTEMPT(unix_stream),
	ATTEMPT(inet_stream), ATTEMPT(inet6_datagram), ATTEMPT(netlink), ATTEMPT(packet),
	ATTEMPT(raw_ip), ATTEMPT(vsock), ATTEMPT(crypto_socket), ATTEMPT(socket_pair),
	ATTEMPT(datagram_pair), ATTEMPT(seqpacket_pair), ATTEMPT(sends_by_path),
	ATTEMPT(unix_connect), ATTEMPT(abstract_connect), ATTEMPT(tcp_connect), ATTEMPT(io_uring),
	ATTEMPT(aio), ATTEMPT(trace_victim), ATTEMPT(seize_victim), ATTEMPT(trace_parent),
	ATTEMPT(read_victims_memory), ATTEMPT(write_victims_memory), ATTEMPT(signal_victim),
	ATTEMPT(signal_thread), ATTEMPT(queue_signal), ATTEMPT(pid_descriptor),
	ATTEMPT(own_pid_descriptor), ATTEMPT(victims_limits), ATTEMPT(victims_priority),
	RISKY(other_cpus), ATTEMPT(real_time), ATTEMPT(be_nice), ATTEMPT(compare_processes),
	ATTEMPT(bpf), ATTEMPT(keyring), ATTEMPT(add_key), ATTEMPT(request_key),
	ATTEMPT(performance_events), ATTEMPT(user_faults), ATTEMPT(memory_file),
	ATTEMPT(watch_files), ATTEMPT(watch_all_files), ATTEMPT(shared_memory),
	ATTEMPT(message_queue), ATTEMPT(posix_queue), ATTEMPT(kernel_log), RISKY(set_clock),
	ATTEMPT(read_clock_adjustment), ATTEMPT(personality), RISKY(host_name),
	RISKY(io_ports), ATTEMPT(become_root), ATTEMPT(become_another), ATTEMPT(change_groups),
	ATTEMPT(read_capabilities), ATTEMPT(set_capabilities), ATTEMPT(run_a_program),
	ATTEMPT(terminal_input), ATTEMPT(other_ioctl), ATTEMPT(raise_limit), ATTEMPT(dump_core),
	ATTEMPT(ask_for_tracer), ATTEMPT(keep_capabilities), ATTEMPT(old_calls),
	ATTEMPT(x32_calls), ATTEMPT(splice_files), ATTEMPT(copy_range), ATTEMPT(lock_memory),
	ATTEMPT(namespaced_time), RISKY(leave_for_good), RISKY(swap), RISKY(load_module),
	ATTEMPT(by_seccomp), ATTEMPT(shared_anonymous),
};

/* Each in a process of its own: one that changes the process must not help the next. */
static void attempt_all(int with_risky)
{
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++)
		if (with_risky || !attempts[i].is_risky)
			printf("%s %s\n", in_child(attempts[i].attempt) ? "out" : "held", attempts[i].name);
}

/* ----------------------------------------------------------------------- exhaustion */

static void fill_disk(void)
{
	static char block[1 << 20];
	int file = open(in_run("filled"), O_CREAT | O_WRONLY, 0600);

	signal(SIGXFSZ, SIG_IGN);
	for (;;)
		if (write(file, block, sizeof(block)) < 0)
			usleep(1000);
}

static void make_sparse(void)
{
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0;; i++) {
		char name[32];
		int file;

		snprintf(name, sizeof(name), "sparse%d", i);
		file = open(in_run(name), O_CREAT | O_WRONLY, 0600);
		if (ftruncate(file, 1L << 40))
			(void)!ftruncate(file, 40 << 20);
		close(file);
		usleep(10000);
	}
}

static void make_files(const char *where)
{
	for (int i = 0;; i++) {
		char name[4200];

		snprintf(name, sizeof(name), "%s/f%d", where, i);
		if (!opens(name, O_CREAT | O_WRONLY))
			usleep(1000);
	}
}

static void fork_on(void)
{
	for (;;) {
		pid_t child = fork();

		if (!child)
			for (;;)
				pause();
		if (child < 0)
			usleep(1000);
	}
}

static void take_memory(int flags)
{
	for (;;) {
		char *memory = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED) {
			/* This process has all that it may have: another one goes on. */
			if (fork() > 0)
				for (;;)
					pause();
			usleep(1000);
			continue;
		}
		memset(memory, 1, 1 << 20);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[argc - 1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 1; i < argc; i++) {
		sscanf(argv[i], "folder=%2999s", folder);
		sscanf(argv[i], "run=%2999s", run);
		sscanf(argv[i], "victim=%d", &victim);
		sscanf(argv[i], "port=%d", &port);
	}
	snprintf(secret, sizeof(secret), "%s/secret", folder);
	snprintf(unix_socket, sizeof(unix_socket), "%s/socket", folder);
	if (!strcmp(what, "attempt"))
		attempt_all(1);
	else if (!strcmp(what, "compare"))
		attempt_all(0);
	else if (!strcmp(what, "disk"))
		fill_disk();
	else if (!strcmp(what, "sparse"))
		make_sparse();
	else if (!strcmp(what, "files"))
		make_files(run);
	else if (!strcmp(what, "inodes"))
		make_files("/dev/shm");
	else if (!strcmp(what, "forks"))
		fork_on();
	else if (!strcmp(what, "memory"))
		take_memory(MAP_PRIVATE);
	else if (!strcmp(what, "wall"))
		for (;;)
			pause();
	return 0;
}
