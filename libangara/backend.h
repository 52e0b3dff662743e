/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interface between the library and its backends, which execute commands.
 *
 * Commands are those of linux/angara.h, by number and structure.  A handle is
 * one open file of a node or of a context; linux/angara.h defines which
 * commands each handle accepts.
 */
#ifndef ANG_BACKEND_H
#define ANG_BACKEND_H

#include "ang_env.h"

#include <linux/angara.h>

#include "fabric.h"
#include "links.h"

/**
 * ang_load_last() - load the last word of an entry that the adapter has written
 * @word: the entry's last eight bytes, of any type
 *
 * The adapter stores them last, with one store.  This function loads them with
 * one load: in C, an acquire load of a single byte would not pair with that
 * store.
 */
static inline u64 ang_load_last(const void *word)
{
	typedef __le64 __attribute__((may_alias)) any_le64;

	return le64_to_cpu(ang_load_acquire((const any_le64 *)word));
}

/* Lets the other hardware thread of the core run while the caller spins. */
static inline void ang_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" ::: "memory");
#endif
}

#define ANG_HASH_INIT	0xCBF29CE484222325ULL

/* FNV-1a hash by words instead of bytes.  It detects accidents, not attacks. */
static inline u64 ang_hash(u64 hash, u64 word)
{
	return (hash ^ word) * 0x100000001B3ULL;
}

/**
 * struct ang_near - an allreduce or a barrier that may use a board, with
 * addresses in this process
 * @set: the other members of this structure are valid
 * @tree: TreeId
 * @pi: SQ producer index after the entry of the operation, which is the first
 *	entry since the last doorbell
 * @op: operation, see ang_near_op()
 * @received: broadcasts that the caller has received, see angara_team_received()
 * @src: contribution
 * @dst: destination of the result
 *
 * The operation is valid, and so are its regions.  No earlier operation of the
 * context on that tree is in progress.
 */
struct ang_near {
	bool set;
	u32 tree;
	u32 pi;
	u64 op;
	u64 received;
	const void *src;
	void *dst;
};

/*
 * The operation as one number.  A barrier is an allreduce of no data, and has
 * the number 0.
 */
static inline u64 ang_near_op(u32 type, u32 redop, u32 len)
{
	return (u64)type << 40 | (u64)redop << 32 | len;
}

/**
 * struct ang_dev - an open device, or a context of it
 * @ops: backend
 * @fd: file descriptor; only backend "cdev" uses @fd and @asked
 * @asked: calls of @gone since the device was last checked
 * @boards: the fabric has boards (embed/board.c), so @near and @colls are used
 * @near: reduction that the next @doorbell may put on a board
 * @colls: collectives may be among the entries since the last @doorbell
 * @colls_from: with @colls: SQ producer index of the first such entry
 * @boarded: the last entry of the SQ is on a board: the device has not received
 *	the entry.  Before another entry is written, @board has to take this one
 *	off the board
 * @priv: data of the backend
 */
struct ang_dev {
	const struct ang_dev_ops *ops;
	int fd;
	u32 asked;
	bool boards;
	struct ang_near near;
	bool colls;
	bool boarded;
	u32 colls_from;
	void *priv;
};

struct ang_scan;

/* Instead of the number of a device: the backend chooses a device at open. */
#define ANG_DEV_ANY	0xFFFFFFFFU

/**
 * struct ang_dev_ops - operations of a backend
 * @scan: add the devices of a fabric to @scan. Return: 0; -ENOMEM
 * @first: number of the device to use if none is named, ANG_DEV_ANY if that
 *	depends on the other processes. Return: 0; -ENODEV
 * @open: open the device @name: a number, or another name that the backend
 *	knows.
 *	Return: 0 or -errno
 * @close: close a handle and free its resources; the last handle of a domain
 *	also frees the domain
 * @ctx_open: ANGARA_IOCTL_CTX_CREATE on @arg; @ctx becomes the context's handle, which owns
 *	angara_ctx_create.fd.  Return: 0 or -errno
 * @cmd: ANGARA_IOCTL_* @nr on @arg, whose size member is set by the caller.
 *	Return: 0 or -errno
 * @describe: allocate the description of the fabric, which the caller frees.
 *	Return: 0 or -errno
 * @links_down: add to @links the links of fabric @fabric_id that are down, as far as this
 *	process can learn of them.
 *	Return: 0; -ENOMEM; -errno: some links are missing
 * @doorbell: notify the device of the SQ producer index in angara_ctl.sq_pi.
 *	Return: 0 or -errno
 * @map: map @len bytes at @offset. Return: address, NULL if that fails
 * @unmap: undo @map
 * @wait: sleep until the event sequence differs from angara_ctl.seen, at most
 *	@timeout_ms (< 0: no limit).
 * Return: 0 for an event or a signal, -ETIMEDOUT, -ENODEV the device is gone
 * @poll_fd: descriptor for poll(2).
 * Return: the descriptor or -errno
 * @arm: make the next event make @poll_fd readable, once.  The caller has
 *	stored angara_ctl.seen.
 * Return: 0; -EAGAIN a reduction has left its board and is complete, the
 * descriptor is armed; -ENODEV the device is gone; errors of @poll_fd
 * @gone: is the device gone? Called often, so the backend need not check each
 *	time
 * @relax: called in each round of a spinning wait, and by polls without a
 *	result, which cannot sleep.
 * Return: false: sleep instead of spinning, if @can_sleep
 * @alloc: allocate zeroed whole pages, which can be registered, at a multiple of @align,
 *	which is a power of two.
 *	Return: 0; -ENOMEM, also if no address is free; -errno
 * @free: undo @alloc
 * @board: check whether the reduction on a board (ang_dev.boarded) is complete.
 *	With argument end, also take its entry off the board if it is not.
 *	Clears ang_dev.boarded when the entry leaves the board.  NULL: there are
 *	no boards.
 *	Return: true: the reduction is complete, the result is stored, and the
 *	device never gets the entry; false: the reduction is not complete, or
 *	the device has the entry now
 * @place: get the location by which other processes reach memory of @alloc;
 *	NULL: they cannot reach it
 * @placed: address of @len bytes at a location from @place; NULL: as @place.
 *	Return: NULL: there is no such location
 * @seal: no further process will join the job's fabric; NULL: the backend
 *	ignores this
 * @spin_us: longest spin of a wait by default
 */
struct ang_dev_ops {
	int (*scan)(const struct ang_spec *spec, struct ang_scan *scan);
	int (*first)(const struct ang_spec *spec, u32 *number);
	int (*open)(struct ang_dev *dev, const struct ang_spec *spec,
		    const char *name);
	void (*close)(struct ang_dev *dev);
	int (*ctx_open)(struct ang_dev *dev, void *arg, struct ang_dev *ctx);
	int (*cmd)(struct ang_dev *dev, unsigned int nr, void *arg);
	int (*describe)(struct ang_dev *dev, char **text);
	int (*links_down)(struct ang_dev *dev, u64 fabric_id, struct ang_links *links);
	int (*doorbell)(struct ang_dev *dev, u32 pi);
	void *(*map)(struct ang_dev *dev, u64 offset, size_t len, bool write);
	void (*unmap)(struct ang_dev *dev, void *addr, size_t len);
	int (*wait)(struct ang_dev *dev, int timeout_ms);
	int (*poll_fd)(struct ang_dev *dev);
	int (*arm)(struct ang_dev *dev);
	bool (*gone)(struct ang_dev *dev);
	bool (*relax)(struct ang_dev *dev, bool can_sleep);
	int (*alloc)(struct ang_dev *dev, size_t len, size_t align, void **mem);
	void (*free)(struct ang_dev *dev, void *mem, size_t len);
	bool (*board)(struct ang_dev *dev, bool end);
	u64 (*place)(struct ang_dev *dev, const void *mem);
	void *(*placed)(struct ang_dev *dev, u64 place, size_t len);
	void (*seal)(struct ang_dev *dev);
	u32 spin_us;
};

extern const struct ang_dev_ops ang_cdev_ops;
extern const struct ang_dev_ops ang_embed_ops;

/* backend.c */
int ang_fabric_get(struct ang_spec *spec);
const struct ang_dev_ops *ang_backend(const struct ang_spec *spec);
int ang_dev_choose(const struct ang_spec *spec, u32 *number);

/* Initializes a command's size, and its flags with 0. */
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
