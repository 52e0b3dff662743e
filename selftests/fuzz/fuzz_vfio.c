// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Clients of angara-vfio send anything: messages of two machines on one fabric,
 * with file descriptors of all kinds.  The contents of guest memory are
 * arbitrary, too.
 *
 * Each message gets an answer of the protocol or none.  No state of a client is
 * left after the client has disconnected.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "proto.h"

#define CARDS	2
#define PAGES	16U
#define PAGE	4096U
#define CTXS	3	/* contexts of an adapter */
#define MAPS	24U	/* mappings of a client, plus one file */
#define KINDS	6	/* kinds of file descriptors */

/* One descriptor of each kind; messages carry duplicates. */
static int kind[KINDS];
static u8 *guest[CARDS];

struct machines {
	struct input *in;
	struct fabric *fabric;
	struct card card[CARDS];
	u32 asq_pi[CARDS];
	struct vfu_reply reply;
};

static int sealed_memory(u8 **mem)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	EXPECT(fd >= 0 && !ftruncate(fd, PAGES * PAGE));
	EXPECT(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	*mem = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	EXPECT(*mem != MAP_FAILED);
	return fd;
}

static void make_kinds(void)
{
	int pipes[2];

	if (guest[0])
		return;
	kind[0] = sealed_memory(&guest[0]);
	kind[1] = sealed_memory(&guest[1]);
	kind[2] = eventfd(0, EFD_CLOEXEC);
	kind[3] = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	kind[4] = open("/dev/null", O_RDWR | O_CLOEXEC);
	EXPECT(!pipe2(pipes, O_CLOEXEC));
	kind[5] = pipes[1];
}

static int lowest_free(void)
{
	int fd = dup(0);

	EXPECT(fd >= 0);
	close(fd);
	return fd;
}

static void check_reply(const struct vfu_msg *m, const struct vfu_reply *r)
{
	struct vfu_hdr hdr;

	if (m->hdr.flags & VFU_NO_REPLY) {
		EXPECT_EQ(r->len, 0);
		return;
	}
	memcpy(&hdr, r->bytes, sizeof(hdr));
	EXPECT_EQ(hdr.size, r->len);
	EXPECT(hdr.size >= sizeof(hdr) && hdr.size <= VFU_MAX_REPLY);
	EXPECT_EQ(hdr.id, m->hdr.id);
	EXPECT_EQ(hdr.command, m->hdr.command);
	EXPECT_EQ(hdr.flags & ~VFU_ERROR, VFU_REPLY);
	EXPECT_EQ(!(hdr.flags & VFU_ERROR), !hdr.error);
	EXPECT(!hdr.error || hdr.size == sizeof(hdr));
}

static void check_card(const struct card *c)
{
	u16 vendor;

	memcpy(&vendor, c->pci.space, sizeof(vendor));
	EXPECT_EQ(le16_to_cpu(vendor), ANGARA_PCI_VENDOR);
	EXPECT_EQ(c->dma.on, c->pci.master);
	EXPECT(c->dma.num_ranges <= MAPS);
	EXPECT(!c->dma.num_ranges == !c->dma.ranges);
}

static void send(struct machines *w, u32 which, u32 command, const void *body,
		 u32 len, const u8 *kinds, u32 num_fds)
{
	struct card *c = &w->card[which];
	u8 *copy = malloc(len ? len : 1);
	u8 flags = in_u8(w->in);
	struct vfu_msg m = {
		.hdr = { .id = 7, .command = (u16)command,
			 .size = (u32)sizeof(struct vfu_hdr) + len },
		.body = copy, .len = len, .num_fds = num_fds,
		.more_fds = flags == 0xFF,
	};
	u32 i;

	/*
	 * The buffer is exactly as long as the body, so that reading past the
	 * end is detected.
	 */
	memcpy(copy, body, len);
	m.hdr.flags = flags < 0xF0 ? 0 : flags < 0xF8 ? VFU_NO_REPLY : flags & 7;
	for (i = 0; i < num_fds; i++)
		m.fds[i] = dup(kind[kinds[i] % KINDS]);
	if (!proto_handle(c, &m, &w->reply)) {
		check_reply(&m, &w->reply);
		check_card(c);
	} else {
		/* The server closes the connection. */
		card_detach(c);
	}
	for (i = 0; i < num_fds; i++)
		if (m.fds[i] >= 0)
			close(m.fds[i]);
	free(copy);
}

static void version(struct machines *w, u32 which)
{
	static const char full[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8,"
		"\"max_data_xfer_size\":1048576,\"pgsizes\":4096,"
		"\"max_dma_maps\":65535,\"write_multiple\":true}}";
	u8 body[256];
	u32 len = in_u8(w->in), i;

	memcpy(body, full, sizeof(full));
	/*
	 * Sends mostly a valid body, otherwise one with errors, or random
	 * bytes.
	 */
	for (i = len >> 6; i; i--)
		body[in_u8(w->in) % sizeof(full)] = in_u8(w->in);
	if (len & 32)
		in_bytes(w->in, body, sizeof(body));
	send(w, which, VFU_VERSION, body,
	     len & 31 ? in_u8(w->in) : sizeof(full), NULL, 0);
}

static void raw(struct machines *w, u32 which)
{
	static const u8 own[] = { 0, 4, 32, 24, 16, 32, 16, 16, 20, 16, 20 };
	u32 command = in_u8(w->in) % 24;
	u32 fds = in_u8(w->in) % (VFU_MAX_FDS + 1);
	u32 len = in_size(w->in) % (VFU_MAX_MSG - 16);
	u8 kinds[VFU_MAX_FDS];
	u8 *body;

	/* The body mostly has the right length. */
	if (len % 4 && command < sizeof(own))
		len = own[command];
	body = calloc(1, len + 1);
	in_bytes(w->in, kinds, fds);
	in_bytes(w->in, body, len < 128 ? len : 128);
	send(w, which, command, body, len, kinds, fds);
	free(body);
}

static void config(struct machines *w, u32 which)
{
	struct {
		u64 off;
		u32 region, count;
		u8 data[64];
	} body = { .region = 7 };
	u32 len = in_u8(w->in);

	body.off = in_size(w->in);
	body.count = len & 0x80 ? in_u32(w->in) : len % 9;
	in_bytes(w->in, body.data, len % 9);
	send(w, which, VFU_REGION_WRITE, &body, 16 + len % 9, NULL, 0);
}

/* Writes mostly a register or doorbell. */
static void reg(struct machines *w, u32 which)
{
	struct {
		u64 off;
		u32 region, count;
		u32 val[2];
	} body = { .count = 4 };
	u8 how = in_u8(w->in);

	body.off = (u64)in_size(w->in) * 4;
	if (how & 1)
		body.off += in_u8(w->in);
	if (how & 2)
		body.off = ANGARA_DB_PAGE(in_u8(w->in) % 4) + (how & 8);
	if (how & 4)
		body.region = in_u8(w->in);
	if ((how & 0xC0) == 0xC0)
		body.off = in_u64(w->in);
	body.val[0] = in_size(w->in);
	if (how & 16)
		body.count = in_u8(w->in) % 10;
	if (how & 32)
		send(w, which, VFU_REGION_READ, &body, 16, NULL, 0);
	else
		send(w, which, VFU_REGION_WRITE, &body,
		     16 + (body.count > 8 ? 8 : body.count), NULL, 0);
}

static void map(struct machines *w, u32 which)
{
	struct vfu_dma_map m = { .argsz = sizeof(m) };
	u8 how = in_u8(w->in);
	u8 what = in_u8(w->in);

	m.flags = how & 3;
	m.iova = (u64)(in_u8(w->in) % 32) * PAGE;
	m.size = (u64)(in_u8(w->in) % (PAGES + 2)) * PAGE;
	m.offset = (u64)(in_u8(w->in) % (PAGES + 1)) * PAGE;
	if ((how & 0xF0) == 0xF0)
		m.iova = in_u64(w->in);
	if ((how & 0xF0) == 0xE0)
		m.size = in_u64(w->in);
	if ((how & 0xF0) == 0xD0)
		m.offset = in_u64(w->in);
	send(w, which, VFU_DMA_MAP, &m, sizeof(m), &what, !(how & 4));
}

static void unmap(struct machines *w, u32 which)
{
	struct vfu_dma_unmap u = { .argsz = sizeof(u) };
	u8 how = in_u8(w->in);

	u.iova = (u64)(in_u8(w->in) % 32) * PAGE;
	u.size = (u64)(in_u8(w->in) % (PAGES + 2)) * PAGE;
	if (how == 0xFF)
		u.flags = 2;
	if (how & 1)
		u.size = in_u64(w->in);
	send(w, which, VFU_DMA_UNMAP, &u, sizeof(u), NULL, 0);
}

static void irqs(struct machines *w, u32 which)
{
	u32 body[6] = { 20 };
	u8 kinds[VFU_MAX_FDS];
	u32 fds, how = in_u8(w->in);

	body[1] = (u32)1 << how % 3 | (u32)8 << (how / 3) % 3;
	body[2] = how & 0x40 ? 0 : 2;
	body[3] = in_u8(w->in) % 8;
	body[4] = in_u8(w->in) % 8;
	body[5] = 0x01000101;
	if (how == 0xFF)
		in_bytes(w->in, body, sizeof(body));
	fds = how % 3 == 2 ? in_u8(w->in) % 8 : 0;
	memset(kinds, 2, sizeof(kinds));
	if (how & 0x80)
		in_bytes(w->in, kinds, fds);
	send(w, which, VFU_SET_IRQS, body,
	     20 + (how % 3 == 1 ? body[4] % 5 : 0), kinds, fds);
}

/* The guest writes its own memory: queues, tables, and data. */
static void poke(struct machines *w, u32 which)
{
	u32 at = in_u16(w->in) % (PAGES * PAGE - 256);

	in_bytes(w->in, guest[which] + at, in_u8(w->in) % 80);
}

/* Does the first steps of a driver, which set up the device. */
static void start(struct machines *w, u32 which)
{
	static const u32 regs[][2] = {
		{ ANGARA_REG_ASQ_LO, 0 }, { ANGARA_REG_ACQ_LO, PAGE },
		{ ANGARA_REG_AEQ_LO, 2 * PAGE }, { ANGARA_REG_ADM_ENTRIES, 8 },
		{ ANGARA_REG_AEQ_ENTRIES, 8 },
		{ ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE },
	};
	struct card *c = &w->card[which];
	u16 command = 6;
	const char *why;
	u32 i;

	c->negotiated = true;
	/* This has no effect if the addresses are mapped already. */
	dma_map(&c->dma, 0, PAGES * PAGE, 0, 3, kind[which], &why);
	pci_write(c, 4, &command, 2);
	for (i = 0; i < NUM(regs); i++)
		EXPECT(!bar_write(c, 0, regs[i][0], &regs[i][1], 4));
	w->asq_pi[which] = 0;
}

static void context(struct machines *w, struct angara_adm_ctx *ctx)
{
	ctx->dom = cpu_to_le16(in_u8(w->in) % 3);
	ctx->sq_log2 = in_u8(w->in) % 8;
	ctx->cq_log2 = in_u8(w->in) % 8;
	ctx->sq = cpu_to_le64(in_u8(w->in) * 512ULL);
	ctx->cq = cpu_to_le64(in_u8(w->in) * 512ULL);
	ctx->ctl = cpu_to_le64(in_u8(w->in) * 512ULL);
	ctx->ctr = cpu_to_le64(in_u8(w->in) * 512ULL);
}

static void domain(struct machines *w, struct angara_adm_domain *dom)
{
	dom->pkey = cpu_to_le32(in_u8(w->in) % 3);
	dom->mrt = cpu_to_le64(in_u8(w->in) * 512ULL);
	dom->mrs = cpu_to_le32(in_u8(w->in) % 16);
}

/* Writes an admin command into the queue of start(). */
static void command(struct machines *w, u32 which)
{
	struct angara_adm_cmd cmd = { .opcode = in_u8(w->in) % 16 };
	u32 pi = w->asq_pi[which]++;

	cmd.ctx = cpu_to_le16(in_u8(w->in) % 4);
	cmd.tree = in_u8(w->in) & 15;
	if (cmd.opcode == ANGARA_ADM_CTX_CREATE)
		context(w, &cmd.create);
	else if (cmd.opcode == ANGARA_ADM_DOMAIN_CREATE)
		domain(w, &cmd.domain);
	else
		in_bytes(w->in, cmd.raw, 24);
	memcpy(guest[which] + pi % 8 * sizeof(cmd), &cmd, sizeof(cmd));
	pi++;
	bar_write(&w->card[which], 0, ANGARA_REG_ASQ_DB, &pi, 4);
	irq_deliver(&w->card[which]);
}

typedef void (*action_fn)(struct machines *w, u32 which);

static void leave(struct machines *w, u32 which)
{
	card_detach(&w->card[which]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const action_fn actions[16] = {
		version, raw, config, reg, map, unmap, irqs, poke,
		reg, command, poke, map, start, irqs, config, leave,
	};
	struct ang_cfg cfg = { .ctxs = CTXS,
		.ops = 4, .bufs = 8, .depth = 4, .train = 2,
		.trees = ANG_DEF_TREES };
	const struct dma_budget budget = { PAGES * PAGE * 3 / 2, MAPS };
	struct input in = { data, size };
	struct machines *w = calloc(1, sizeof(*w));
	u32 i, free_fd;

	make_kinds();
	for (i = 0; i < CARDS; i++)
		memset(guest[i], 0, PAGES * PAGE);
	free_fd = (u32)lowest_free();
	w->in = &in;
	/*
	 * Without workers, everything runs in this thread, always in the same
	 * order.
	 */
	ang_topo_init(&cfg.topo, 1, (const u16[]){ CARDS });
	w->fabric = fabric_new(&cfg, 0);
	EXPECT(w->fabric);
	for (i = 0; i < CARDS; i++) {
		EXPECT(!card_init(&w->card[i], w->fabric, i, CTXS,
				  &budget));
		/* Suppress messages of the card, as if the log limit were used up. */
		w->card[i].limit.since = seconds();
		w->card[i].limit.lines = 1000;
	}
	while (in.left) {
		u8 what = in_u8(&in);

		actions[what & 15](w, what >> 4 & 1);
	}
	for (i = 0; i < CARDS; i++) {
		card_detach(&w->card[i]);
		EXPECT_EQ(w->card[i].dma.num_ranges, 0);
		card_destroy(&w->card[i]);
	}
	fabric_free(w->fabric);
	free(w);
	EXPECT_EQ(lowest_free(), free_fd);
	return 0;
}
