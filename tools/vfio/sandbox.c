// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls that the server may use while it serves clients.
 *
 * If a client makes the server execute the client's code, that code reaches
 * memory of other machines, but no files, no programs and no new connections.
 * The filter is a list of system calls.  Any other call ends the process, and
 * so does a listed call with an argument that its rule does not allow.  The
 * filter is installed for all threads when all files and sockets are open, and
 * before the first client is served.
 *
 * A filter cannot read memory behind pointers.  So the filter lets the server
 * remove any file of its user, because the server must remove its sockets.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "card.h"

#if defined(__x86_64__)
#define SANDBOX_ARCH	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCH	AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define SANDBOX_ARCH	AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define SANDBOX_ARCH	AUDIT_ARCH_PPC64LE
#else
#error "name this machine's AUDIT_ARCH; arguments are read as little endian"
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANDBOX_INSTRUMENTED
#endif
#endif
/* The makefile defines VFIO_COVERAGE if --coverage is among the compiler's options. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	defined(VFIO_COVERAGE)
#define SANDBOX_INSTRUMENTED
#endif

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

enum {
	ALWAYS,
	EQUALS,			/* allow if the argument has this value */
	HAS,			/* allow if the argument has one of these bits */
	LACKS,			/* allow if the argument has none of these bits */
	FAILS,			/* fail with this errno */
};

struct rule {
	u32 nr;
	u8 when;
	u8 arg;
	u32 val;
};

/*
 * Versions of glibc use different calls; the calls of all of them are listed.
 */
static const struct rule rules[] = {
	/* Sockets, eventfds and files of memory. */
	{ __NR_read }, { __NR_write }, { __NR_writev }, { __NR_close },
	{ __NR_recvmsg }, { __NR_recvfrom }, { __NR_sendto }, { __NR_accept4 },
	{ __NR_shutdown }, { __NR_setsockopt }, { __NR_getsockopt },
	{ __NR_ppoll }, { __NR_eventfd2 }, { __NR_fcntl }, { __NR_fstat },
	{ __NR_fstatfs }, { __NR_lseek },
	/* Checks for an eventfd; at exit, checks whether the socket is still ours. */
	{ __NR_readlinkat }, { __NR_newfstatat }, { __NR_statx },
	{ __NR_unlinkat },
#ifdef __NR_poll
	{ __NR_poll }, { __NR_readlink }, { __NR_lstat }, { __NR_unlink },
#endif
	/* stdio checks whether it writes to a terminal. */
	{ __NR_ioctl, EQUALS, 1, TCGETS },
	/* Memory that is not executable. */
	{ __NR_brk }, { __NR_munmap }, { __NR_mremap }, { __NR_madvise },
	{ __NR_mmap, LACKS, 2, PROT_EXEC },
	{ __NR_mprotect, LACKS, 2, PROT_EXEC },
	/* Threads.  clone3() takes its flags from memory. */
	{ __NR_clone3, FAILS, 0, ENOSYS },
#ifndef SANDBOX_INSTRUMENTED
	{ __NR_clone, HAS, 0, CLONE_THREAD },
	{ __NR_prctl, FAILS, 0, EINVAL },
	/* free() reads the kernel's policy in /proc, and works without it. */
	{ __NR_openat, FAILS, 0, EACCES },
#endif
	{ __NR_futex }, { __NR_set_robust_list }, { __NR_rseq },
	{ __NR_sched_yield }, { __NR_sched_getaffinity }, { __NR_getpid },
	{ __NR_gettid }, { __NR_exit }, { __NR_exit_group },
	{ __NR_restart_syscall },
	/* Signals, for this process only: see sandbox_enter(). */
	{ __NR_rt_sigreturn }, { __NR_rt_sigprocmask }, { __NR_rt_sigaction },
	{ __NR_rt_sigtimedwait },
	/* Time and random numbers. */
	{ __NR_clock_gettime }, { __NR_clock_nanosleep }, { __NR_nanosleep },
	{ __NR_gettimeofday }, { __NR_getrandom },
#ifdef SANDBOX_INSTRUMENTED
	/* Reports and leak detection of sanitizers, and counts of coverage. */
	{ __NR_clone }, { __NR_prctl }, { __NR_ptrace }, { __NR_wait4 },
	{ __NR_openat }, { __NR_pread64 }, { __NR_getdents64 }, { __NR_kill },
	{ __NR_getcwd }, { __NR_getppid }, { __NR_uname }, { __NR_sysinfo },
	{ __NR_getrusage }, { __NR_prlimit64 }, { __NR_sigaltstack },
	{ __NR_process_vm_readv }, { __NR_dup }, { __NR_pipe2 },
	{ __NR_mincore }, { __NR_personality }, { __NR_mkdirat },
	{ __NR_faccessat }, { __NR_ftruncate }, { __NR_umask },
#ifdef __x86_64__
	{ __NR_open }, { __NR_stat }, { __NR_access }, { __NR_mkdir },
	{ __NR_getrlimit }, { __NR_getdents }, { __NR_arch_prctl },
#endif
#endif
};

/* With --peer or --listen the server replaces broken connections. */
static const struct rule link_rules[] = {
	{ __NR_socket, EQUALS, 0, AF_INET },
	{ __NR_socket, EQUALS, 0, AF_INET6 },
	{ __NR_connect }, { __NR_getsockname }, { __NR_getpeername },
};

#define RULE_INSNS	5	/* most instructions of a rule */
#define MAX_INSNS	(5 + RULE_INSNS * (NUM(rules) + NUM(link_rules) + 1))

struct program {
	unsigned short len;
	struct sock_filter insn[MAX_INSNS];
};

static void insn(struct program *p, u16 code, u8 jt, u8 jf, u32 k)
{
	p->insn[p->len++] = (struct sock_filter){ code, jt, jf, k };
}

static void load(struct program *p, size_t offset)
{
	insn(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (u32)offset);
}

static void ret(struct program *p, u32 what)
{
	insn(p, BPF_RET | BPF_K, 0, 0, what);
}

/* Before and after each rule the accumulator holds the number of the call. */
static void put_rule(struct program *p, const struct rule *r)
{
	unsigned short at;

	insn(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, r->nr);
	at = p->len;
	switch (r->when) {
	case ALWAYS:
		ret(p, SECCOMP_RET_ALLOW);
		break;
	case FAILS:
		ret(p, SECCOMP_RET_ERRNO | r->val);
		break;
	default:
		load(p, offsetof(struct seccomp_data, args[r->arg]));
		if (r->when == EQUALS)
			insn(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, r->val);
		else
			insn(p, BPF_JMP | BPF_JSET | BPF_K, r->when == LACKS,
			     r->when == HAS, r->val);
		ret(p, SECCOMP_RET_ALLOW);
		load(p, offsetof(struct seccomp_data, nr));
	}
	p->insn[at - 1].jf = (u8)(p->len - at);
}

static void put_rules(struct program *p, const struct rule *r, size_t n)
{
	for (; n; n--)
		put_rule(p, r++);
}

/**
 * sandbox_begin() - drop privileges that an executed program could gain
 *
 * Must be called before any thread is started.
 *
 * Return: 0, or -errno after a message.
 */
int sandbox_begin(void)
{
	int err;

	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 0;
	err = errno;
	say("cannot set no_new_privs: %s", strerror(err));
	return -err;
}

/**
 * sandbox_enter() - restrict the process to the system calls that it needs
 * @links: allow connections with other servers
 *
 * Applies to all threads.
 * Return: 0, or -errno after a message.
 */
int sandbox_enter(bool links)
{
	const struct rule self = { __NR_tgkill, EQUALS, 0, (u32)getpid() };
	struct program *p = calloc(1, sizeof(*p));
	struct sock_fprog prog;
	long failed;

	if (!p)
		return -ENOMEM;
	load(p, offsetof(struct seccomp_data, arch));
	insn(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SANDBOX_ARCH);
	ret(p, SECCOMP_RET_KILL_PROCESS);
	load(p, offsetof(struct seccomp_data, nr));
	put_rules(p, rules, NUM(rules));
	put_rule(p, &self);
	if (links)
		put_rules(p, link_rules, NUM(link_rules));
	ret(p, SECCOMP_RET_KILL_PROCESS);
	prog = (struct sock_fprog){ p->len, p->insn };
	failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			 SECCOMP_FILTER_FLAG_TSYNC, &prog);
	free(p);
	if (!failed)
		return 0;
	/* A positive value is the id of a thread with another filter. */
	failed = failed < 0 ? errno : EBUSY;
	say("cannot install the filter of system calls: %s", strerror((int)failed));
	return (int)-failed;
}
