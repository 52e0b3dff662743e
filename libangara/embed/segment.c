// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Joining a fabric and leaving it.
 *
 * A process joins with the gate held.  If no process has a slot, the process
 * initializes the segment again, whatever its content.  So a segment whose
 * processes have all died does no harm, and neither does an interrupted
 * initialization. The last process that leaves a named segment also holds the
 * gate, and removes the file.  A process that has waited for the gate of a
 * removed file starts again.
 *
 * A process joins only once, even if it opens several devices.  A child of
 * fork(2) has not joined: it does not inherit the memory, and the handler below
 * closes the file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ang_types.h"
#include "embed.h"
#include "name.h"
#include "topo/text.h"

#define MEMFD_NAME	"angara"

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct emb_fab *known;	/* list of fabrics; under registry */
static u32 forks;		/* number of fork(2) calls between the first process and this one */

/*
 * Number of forks since the first process; a fabric that was joined at another
 * number belongs to an ancestor of this process.
 */
u32 emb_forks(void)
{
	return READ_ONCE(forks);
}

static void in_child(void)
{
	struct emb_fab *fab;

	for (fab = known; fab; fab = fab->next)
		close(fab->fd);
	known = NULL;
	forks++;
	emb_tracer_forget();
	pthread_mutex_init(&registry, NULL);
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

/* Approximate limit of the segment's size, bytes. */
static u64 memory_of(const struct emb_fab *fab)
{
	struct statfs fs;

	if (fab->path[0] && !fstatfs(fab->fd, &fs))
		return (u64)fs.f_blocks * (u64)fs.f_bsize;
	return (u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE);
}

static int file_open(struct emb_fab *fab)
{
	char path[32];
	struct stat st;

	if (fab->path[0]) {
		fab->fd = open(fab->path, O_RDWR | O_CREAT | O_CLOEXEC |
			       O_NOFOLLOW, 0600);
	} else if (fab->asked.fd >= 0) {
		/*
		 * Open the file again, since locks belong to an open file
		 * description.
		 */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fab->asked.fd);
		fab->fd = open(path, O_RDWR | O_CLOEXEC);
	} else {
		fab->fd = memfd_create(MEMFD_NAME, MFD_CLOEXEC);
	}
	if (fab->fd < 0)
		return -errno;
	if (!fstat(fab->fd, &st) && S_ISREG(st.st_mode) &&
	    (!fab->path[0] || st.st_uid == geteuid()))
		return 0;
	close(fab->fd);
	return -EACCES;
}

static int segment_map(struct emb_fab *fab, u64 size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fab->fd, 0);

	if (mem == MAP_FAILED)
		return -ENOMEM;
	madvise(mem, size, MADV_DONTFORK);
	madvise(mem, size, MADV_DONTDUMP);
	fab->head = mem;
	fab->size = size;
	return 0;
}

/*
 * Lays out an empty segment and maps it.  Heaps are as large as memory, or
 * smaller if the address space is limited, for example by ulimit -v.
 */
static int lay_out(struct emb_fab *fab, struct emb_head *h)
{
	struct ang_spec spec = fab->asked;
	u64 room = memory_of(fab);
	struct rlimit lim;
	int ret;

	ang_spec_size(&spec, 1);
	for (;;) {
		ret = emb_layout(h, &spec, fab->text, room);
		if (ret)
			return ret;
		/*
		 * A file cannot grow beyond this limit, and access beyond its
		 * end would raise SIGBUS.
		 */
		if (!getrlimit(RLIMIT_FSIZE, &lim) && lim.rlim_cur < h->size)
			return -EFBIG;
		if (ftruncate(fab->fd, 0) || ftruncate(fab->fd, (off_t)h->size))
			return -errno;
		ret = segment_map(fab, h->size);
		if (!ret || spec.heap_mib || h->heap_span <= EMB_HEAP_MIN)
			return ret;
		room = h->heap_span / 2;
	}
}

static int segment_make(struct emb_fab *fab)
{
	struct ang_topo_why why;
	struct emb_head h;
	struct ang_cfg cfg;
	u32 i;
	int ret = lay_out(fab, &h);

	if (!ret)
		ret = emb_reserve(fab->fd, 0, h.copy_at + h.copy_span);
	if (ret)
		return ret;
	cfg = h.cfg;
	h.cfg.text = NULL;
	*fab->head = h;
	if (!ang_fabric_init(emb_model(fab, 0), &cfg, &why))
		return -EINVAL;
	for (i = 0; i < h.routers; i++)
		emb_node(fab, i)->rows.num = h.cfg.trees;
	emb_left(fab, 0)->left.head = ANG_NONE;
	emb_left(fab, 0)->timers.head = ANG_NONE;
	return 0;
}

/* Does the segment have the requested graph? */
static bool same_graph(const struct emb_fab *fab)
{
	const struct ang_fabric *model = emb_model(fab, 0);

	return !fab->text ||
	       (strlen(fab->text) == model->text_size &&
		!memcmp(fab->text, (const char *)model + model->off_text,
			model->text_size));
}

/* Reads the head of a segment that other processes use. */
static int segment_inspect(const struct emb_fab *fab, struct emb_head *h)
{
	const struct ang_topo *t = &fab->asked.topo;

	if (pread(fab->fd, h, sizeof(*h), 0) != (ssize_t)sizeof(*h) ||
	    h->magic != EMB_MAGIC || h->version != EMB_VERSION ||
	    h->layout != emb_layout_hash())
		return -EPROTO;
	if (h->broken)
		return -ENODEV;
	if (t->nodes && memcmp(t, &h->cfg.topo, sizeof(*t)) != 0)
		return -EEXIST;
	return 0;
}

static u64 pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

#define CPUS_MAX	(1U << 20)	/* more processors than the kernel supports */

/*
 * Gets the processors that this process may run on.  On a large machine the
 * kernel needs a larger set than @set; then several processors share a bit of
 * @set.
 */
static void get_cpus(cpu_set_t *set)
{
	u32 n, i;

	CPU_ZERO(set);
	for (n = CPU_SETSIZE; n <= CPUS_MAX; n *= 2) {
		size_t size = CPU_ALLOC_SIZE(n);
		cpu_set_t *all = CPU_ALLOC(n);
		bool got = all && !sched_getaffinity(0, size, all);

		for (i = 0; got && i < n; i++)
			if (CPU_ISSET_S(i, size, all))
				CPU_SET(i % CPU_SETSIZE, set);
		CPU_FREE(all);
		if (got || errno != EINVAL)
			break;
	}
	if (!CPU_COUNT(set))
		CPU_SET(0, set);
}

/*
 * Adds the processors of this process to the set of the fabric, since a
 * launcher may have bound each process to other processors.
 */
static void add_cpus(struct emb_head *head)
{
	cpu_set_t set;

	get_cpus(&set);
	CPU_OR(&head->cpus, &head->cpus, &set);
	WRITE_ONCE(head->num_cpus, (u32)CPU_COUNT(&head->cpus));
}

/*
 * Locks a free slot.  Prefers a slot whose last process left no objects to
 * free.
 */
static int slot_lock(struct emb_fab *fab, u32 *num)
{
	const u32 procs = fab->head->procs;
	u32 i;

	for (i = 0; i < 2 * procs; i++) {
		u32 s = i % procs;

		if (i < procs && ang_load_acquire(&emb_slot(fab, s)->used))
			continue;
		if (emb_try_lock(fab->fd, EMB_LOCK_SLOT(s)))
			continue;
		*num = s;
		return 0;
	}
	return -EBUSY;
}

/* Initializes a slot for this process. */
static void slot_begin(struct emb_fab *fab, struct emb_slot *slot)
{
	u32 i;

	slot->pid = (u32)getpid();
	slot->pidns = fab->pidns;
	for (i = 0; i < EMB_SEATS; i++)
		slot->seat[i].inside = 0;
	slot->working = 0;
	slot->fenced = 0;
	slot->looks = 0;
	ang_store_release(&slot->life, slot->life + 1);
	ang_store_release(&slot->dying, 0);
}

/*
 * Takes a slot.  Frees the objects of all dead processes first: a node that a
 * dead process was changing has to be reset before new contexts are created
 * there.
 */
static int slot_take(struct emb_fab *fab)
{
	struct emb_slot *slot;
	bool old;
	int ret;

	ret = slot_lock(fab, &fab->slot);
	if (ret)
		return ret;
	slot = emb_slot(fab, fab->slot);
	old = slot->used;
	if (old) {
		/*
		 * This process now has the lock, so the lock no longer shows
		 * that the previous owner is dead.
		 */
		WRITE_ONCE(slot->dying, 1);
		ret = emb_repair_after(fab, fab->slot);
		if (ret) {
			emb_unlock(fab->fd, EMB_LOCK_SLOT(fab->slot));
			return ret;
		}
	}
	slot_begin(fab, slot);
	if (old) {
		/*
		 * This process owns the slot now: if it dies here, other
		 * processes detect its death and free the objects.
		 */
		ret = emb_give_back(fab, fab->slot);
		if (ret) {
			emb_unlock(fab->fd, EMB_LOCK_SLOT(fab->slot));
			return ret;
		}
	} else {
		ang_fetch_add(&fab->head->here, 1);
		ang_store_release(&slot->used, 1);
	}
	add_cpus(fab->head);
	emb_recover_all(fab);
	return 0;
}

static int nodes_start(struct emb_fab *fab)
{
	struct emb_run r;
	u32 node;
	int ret = 0;

	emb_run_init(&r, fab);
	for (node = 0; !ret && node < fab->head->nodes; node++)
		ret = emb_node_start(&r, node);
	return ret;
}

/*
 * Joins the fabric, with the gate held.  Return: 0; -EAGAIN start again;
 * -errno.
 */
static int come_in(struct emb_fab *fab)
{
	bool fresh = !emb_locked(fab->fd, EMB_LOCK_SLOT(0), ANG_EMBED_PROCS);
	struct emb_head h;
	struct stat st;
	int ret;

	if (fstat(fab->fd, &st))
		return -errno;
	if (fab->path[0] && !st.st_nlink)
		return -EAGAIN;
	if (fresh) {
		ret = segment_make(fab);
	} else {
		ret = segment_inspect(fab, &h);
		/* Processes that still use the broken fabric have mapped the old file. */
		if (ret == -ENODEV && fab->path[0]) {
			unlink(fab->path);
			return -EAGAIN;
		}
		if (!ret)
			ret = segment_map(fab, h.size);
		if (!ret && !same_graph(fab))
			ret = -EEXIST;
	}
	if (ret)
		return ret;
	fab->topo = ang_fab_topo(emb_model(fab, 0));
	fab->mine = calloc(fab->head->routers, sizeof(*fab->mine));
	if (!fab->mine)
		return -ENOMEM;
	ret = slot_take(fab);
	if (!ret && fresh)
		ret = nodes_start(fab);
	if (!ret)
		ang_store_release(&fab->head->ready, 1);
	return ret;
}

static void file_close(struct emb_fab *fab)
{
	if (fab->head)
		munmap(fab->head, fab->size);
	fab->head = NULL;
	free(fab->mine);
	fab->mine = NULL;
	close(fab->fd);
}

static int segment_open(struct emb_fab *fab)
{
	int ret;

	do {
		ret = file_open(fab);
		if (ret)
			return ret;
		ret = emb_lock(fab->fd, EMB_GATE, NULL);
		if (!ret) {
			ret = come_in(fab);
			/*
			 * Remove the file of a fabric that could not be
			 * created.
			 */
			if (ret && fab->path[0]) {
				emb_unlock(fab->fd, EMB_LOCK_SLOT(fab->slot));
				emb_remove_if_last(fab->fd, fab->path);
			}
			emb_unlock(fab->fd, EMB_GATE);
		}
		if (ret)
			file_close(fab);
	} while (ret == -EAGAIN);
	return ret;
}

static void segment_close(struct emb_fab *fab)
{
	/*
	 * If the gate cannot be taken, other processes clean up as if this one
	 * had died.
	 */
	if (!emb_lock(fab->fd, EMB_GATE, NULL)) {
		emb_heap_forget(fab);
		/*
		 * If objects are left, or a stopped process may still write to
		 * the heap, other processes free the slot later, as if this
		 * process had died.
		 */
		if (!emb_broken(fab) && !fab->unclean && !emb_has_fenced(fab)) {
			emb_heap_drop(fab, fab->slot);
			ang_fetch_add(&fab->head->here, (u32)-1);
			ang_store_release(&emb_slot(fab, fab->slot)->used, 0);
		}
		emb_unlock(fab->fd, EMB_LOCK_SLOT(fab->slot));
		if (fab->path[0])
			emb_remove_if_last(fab->fd, fab->path);
		emb_unlock(fab->fd, EMB_GATE);
	}
	file_close(fab);
}

/* At exit, a process that has not closed its devices also removes the file. */
static void __attribute__((destructor)) at_end(void)
{
	struct emb_fab *fab;

	if (pthread_mutex_trylock(&registry))
		return;
	for (fab = known; fab; fab = fab->next)
		if (fab->path[0] && !emb_lock(fab->fd, EMB_GATE, NULL)) {
			emb_remove_if_last(fab->fd, fab->path);
			emb_unlock(fab->fd, EMB_GATE);
		}
	pthread_mutex_unlock(&registry);
}

static u32 boards_wanted(void)
{
	const char *text = getenv(ANG_ENV_EXPRESS);

	if (text && !strcmp(text, "0"))
		return EMB_BOARDS_NEVER;
	return text && !strcmp(text, "long") ? EMB_BOARDS_LONG : EMB_BOARDS;
}

static struct emb_fab *fab_new(const struct ang_spec *spec)
{
	struct emb_fab *fab = calloc(1, sizeof(*fab));

	if (!fab)
		return NULL;
	fab->asked = *spec;
	fab->pidns = pid_namespace();
	fab->packets = getenv(ANG_ENV_PACKETS);
	fab->boards = fab->packets ? EMB_BOARDS_NEVER : boards_wanted();
	fab->parent = getppid();
	pthread_mutex_init(&fab->mutex, NULL);
	pthread_mutex_init(&fab->repair, NULL);
	if (spec->name[0])
		emb_name_path(spec->name, fab->path);
	return fab;
}

/*
 * Reads the description of a graph; its file may have been replaced since the
 * check of its kind.
 */
static int text_read(struct emb_fab *fab)
{
	struct ang_topo_why why;
	struct ang_topo topo;
	int ret;

	if (!fab->asked.file[0])
		return 0;
	ret = ang_text_load(fab->asked.file, &fab->text);
	if (!ret && (!ang_topo_read(&topo, fab->text, &why) ||
		     memcmp(&topo, &fab->asked.topo, sizeof(topo)) != 0))
		ret = -EINVAL;
	return ret;
}

static int segment_come(struct emb_fab *fab)
{
	int ret = text_read(fab);

	if (!ret)
		ret = segment_open(fab);
	free(fab->text);
	fab->text = NULL;
	return ret;
}

static struct emb_fab *fab_find(const struct ang_spec *spec)
{
	char want[ANG_SPEC_BYTES], has[ANG_SPEC_BYTES];
	struct emb_fab *fab;

	for (fab = known; fab; fab = fab->next)
		if (!emb_broken(fab) &&
		    !ang_spec_print(spec, want, sizeof(want)) &&
		    !ang_spec_print(&fab->asked, has, sizeof(has)) &&
		    !strcmp(want, has))
			return fab;
	return NULL;
}

/**
 * emb_attach() - join a fabric
 * @spec: the fabric
 * @fab: out; undo with emb_detach()
 *
 * Return: 0; -ENOSPC, -ENOMEM there is not enough memory; -EBUSY the fabric has
 * no free slot for a process; -EEXIST a fabric of this name has another
 * description; -EPROTO another version of the library created it; -ENODEV the
 * fabric is broken; -errno.
 */
int emb_attach(const struct ang_spec *spec, struct emb_fab **out)
{
	struct emb_fab *fab;
	int ret = 0;

	pthread_mutex_lock(&registry);
	fab = fab_find(spec);
	if (!fab) {
		fab = fab_new(spec);
		ret = fab ? segment_come(fab) : -ENOMEM;
		if (ret) {
			free(fab);
			goto out;
		}
		fab->next = known;
		known = fab;
	}
	fab->refs++;
	*out = fab;
out:
	pthread_mutex_unlock(&registry);
	return ret;
}

/*
 * Removes the name of a job's fabric when all its processes have joined.  Then
 * no file remains, however the processes end.
 */
void emb_seal(struct ang_dev *dev)
{
	const struct emb_dev *d = dev->priv;
	struct emb_fab *fab = d->fab;

	if (!fab->asked.own)
		return;
	/*
	 * The gate excludes other processes, and the mutex other threads of
	 * this process.
	 */
	pthread_mutex_lock(&fab->mutex);
	if (!emb_lock(fab->fd, EMB_GATE, NULL)) {
		emb_name_remove(fab->fd, fab->path);
		emb_unlock(fab->fd, EMB_GATE);
	}
	pthread_mutex_unlock(&fab->mutex);
}

/* Takes a reference to a fabric that the process has joined. */
void emb_hold(struct emb_fab *fab)
{
	pthread_mutex_lock(&registry);
	fab->refs++;
	pthread_mutex_unlock(&registry);
}

void emb_detach(struct emb_fab *fab)
{
	struct emb_fab **at;

	pthread_mutex_lock(&registry);
	if (--fab->refs == 0) {
		for (at = &known; *at != fab; at = &(*at)->next)
			;
		*at = fab->next;
		segment_close(fab);
		free(fab);
	}
	pthread_mutex_unlock(&registry);
}
