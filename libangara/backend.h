/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the library needs of whatever carries its commands.
 *
 * Commands are those of linux/angara.h, by number and structure.  A handle is
 * one open file of one node, or of a context: what the one or the other takes
 * is said there.
 */
#ifndef ANG_BACKEND_H
#define ANG_BACKEND_H

#include "ang_env.h"

#include <linux/angara.h>

#include "fabric.h"

/**
 * ang_load_last() - the last word of an entry that the adapter has written
 * @word: the entry's last eight bytes, whatever they are made of
 *
 * The adapter stores them at once behind all others, and so they are loaded:
 * an acquire of one of their bytes would not pair with that in C's terms.
 */
static inline u64 ang_load_last(const void *word)
{
	typedef __le64 __attribute__((may_alias)) any_le64;

	return le64_to_cpu(ang_load_acquire((const any_le64 *)word));
}

/* Spinning: the other thread of the core may have what it wants. */
static inline void ang_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" ::: "memory");
#endif
}

#define ANG_HASH_INIT	0xCBF29CE484222325ULL

/* FNV-1a, by @word rather than by bytes: against accidents, not against foes. */
static inline u64 ang_hash(u64 hash, u64 word)
{
	return (hash ^ word) * 0x100000001B3ULL;
}

/**
 * struct ang_dev - an open device, or context of one
 * @ops: who carries its commands
 * @fd: of the carrier "cdev", as the next is
 * @asked: whether the device is gone
 * @priv: what it needs
 */
struct ang_dev {
	const struct ang_dev_ops *ops;
	int fd;
	u32 asked;
	void *priv;
};

struct ang_scan;

#define ANG_TEXT_BYTES	4096	/* of a description and its NUL */

/* Number of a device: one that the carrier chooses when it is opened. */
#define ANG_DEV_ANY	0xFFFFFFFFU

/**
 * struct ang_dev_ops - carrier of commands
 * @scan: add the devices of a fabric to @scan. Return: 0; -ENOMEM
 * @first: number of the device to use if none is named, ANG_DEV_ANY if that
 *	depends on the other processes. Return: 0; -ENODEV
 * @open: open the device @name, a number or what else the carrier knows it by.
 *	Return: 0 or -errno
 * @close: close it; gives back what it has, and the domain with the last handle
 *	that has to do with it
 * @ctx_open: ANGARA_IOCTL_CTX_CREATE on @arg; @ctx becomes the context's handle,
 *	and angara_ctx_create.fd is its own matter.  Return: 0 or -errno
 * @cmd: ANGARA_IOCTL_* @nr on @arg, whose size member is set by the caller.
 *	Return: 0 or -errno
 * @describe: write the description of the fabric, ANG_TEXT_BYTES at most.
 *	Return: 0 or -errno
 * @doorbell: tell the device the SQ producer index, which stands in
 *	angara_ctl.sq_pi. Return: 0 or -errno
 * @map: map @len bytes at @offset. Return: address, NULL if that fails
 * @unmap: undo @map
 * @wait: sleep until the event sequence differs from angara_ctl.seen, at most
 *	@timeout_ms (< 0: no limit). Return: 0 for an event or a signal,
 *	-ETIMEDOUT, -ENODEV the device is gone
 * @poll_fd: descriptor for poll(2). Return: it or -errno
 * @arm: angara_ctl.seen has been written, and what came before looked at: the
 *	next event makes @poll_fd readable, once. Return: 0; -ENODEV the device
 *	is gone; what @poll_fd returns
 * @gone: is the device gone? Asked often, so it may not tell at once
 * @relax: somebody spins
 * @alloc: zeroed memory in whole pages that is good to register.
 *	Return: 0 or -errno
 * @free: undo @alloc
 */
struct ang_dev_ops {
	int (*scan)(const struct ang_spec *spec, struct ang_scan *scan);
	int (*first)(const struct ang_spec *spec, u32 *number);
	int (*open)(struct ang_dev *dev, const struct ang_spec *spec,
		    const char *name);
	void (*close)(struct ang_dev *dev);
	int (*ctx_open)(struct ang_dev *dev, void *arg, struct ang_dev *ctx);
	int (*cmd)(struct ang_dev *dev, unsigned int nr, void *arg);
	int (*describe)(struct ang_dev *dev, char *text);
	int (*doorbell)(struct ang_dev *dev, u32 pi);
	void *(*map)(struct ang_dev *dev, u64 offset, size_t len, bool write);
	void (*unmap)(struct ang_dev *dev, void *addr, size_t len);
	int (*wait)(struct ang_dev *dev, int timeout_ms);
	int (*poll_fd)(struct ang_dev *dev);
	int (*arm)(struct ang_dev *dev);
	bool (*gone)(struct ang_dev *dev);
	void (*relax)(struct ang_dev *dev);
	int (*alloc)(struct ang_dev *dev, size_t len, void **mem);
	void (*free)(struct ang_dev *dev, void *mem, size_t len);
};

extern const struct ang_dev_ops ang_cdev_ops;
extern const struct ang_dev_ops ang_embed_ops;

/* backend.c */
int ang_fabric_get(struct ang_spec *spec);
const struct ang_dev_ops *ang_backend(const struct ang_spec *spec);
int ang_dev_choose(const struct ang_spec *spec, u32 *number);

/* Sets size and flags as every command wants them. */
#define ANG_CMD_INIT(type)	((type) { .size = sizeof(type) })

static inline int ang_dev_open(struct ang_dev *dev,
			       const struct ang_spec *spec, const char *name)
{
	dev->ops = ang_backend(spec);
	return dev->ops->open(dev, spec, name);
}

static inline void ang_dev_close(struct ang_dev *dev)
{
	dev->ops->close(dev);
}

static inline int ang_dev_cmd(struct ang_dev *dev, unsigned int nr, void *arg)
{
	return dev->ops->cmd(dev, nr, arg);
}

#endif /* ANG_BACKEND_H */
