// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a client may map, and limits of the adapter's access to it.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

#define P	4096ULL
#define RW	3U

static void refused(void)
{
	static const struct {
		u64 iova, size, offset;
		u32 flags;
	} bad[] = {
		{ 0, 0, 0, RW }, { 1, P, 0, RW }, { 0, P + 1, 0, RW },
		{ 0, P, 1, RW }, { 0, P, 0, 0 }, { 0, P, 0, 4 }, { 0, P, 0, 7 },
		{ 0, 17 * P, 0, RW }, { 0, P, 16 * P, RW }, { 0, P, ~0ULL - P + 1, RW },
		{ 0, ~0ULL - P + 1, 0, RW }, { ~0ULL - P + 1, 2 * P, 0, RW },
		{ P, ~0ULL - P + 1, P, RW },
	};
	struct cl *cl = cl_attach(0);
	struct vfu_dma_map map = { .argsz = 31, .flags = RW, .size = P };
	int fd = memfd(16 * P, true);
	int two[2] = { fd, fd };
	u32 i;

	for (i = 0; i < NUM(bad); i++)
		EXPECT_EQ(cl_dma_map(cl, bad[i].iova, bad[i].size, bad[i].offset,
				     bad[i].flags, fd), EINVAL);
	EXPECT_EQ(cl_call_fds(cl, VFU_DMA_MAP, &map, sizeof(map), &fd, 1), EINVAL);
	map.argsz = 32;
	EXPECT_EQ(cl_call_fds(cl, VFU_DMA_MAP, &map, sizeof(map), two, 2), EINVAL);
	EXPECT_EQ(server_maps(), 0);
	/*
	 * The last page of the address space can be mapped once, and unmapped.
	 */
	EXPECT_EQ(cl_dma_map(cl, ~0ULL - P + 1, P, 15 * P, RW, fd), 0);
	EXPECT_EQ(cl_dma_map(cl, ~0ULL - P + 1, P, 15 * P, RW, fd), EEXIST);
	EXPECT_EQ(cl_dma_unmap(cl, ~0ULL - P + 1, P, 0), 0);
	EXPECT_EQ(server_maps(), 0);
	close(fd);
	cl_close(cl);
}

static u64 unmapped(struct cl *cl)
{
	struct vfu_dma_unmap unmap;

	EXPECT_EQ(cl->len, sizeof(unmap));
	memcpy(&unmap, cl->body, sizeof(unmap));
	return unmap.size;
}

static void overlaps(void)
{
	struct cl *cl = cl_attach(0);
	int fd = memfd(64 * P, true);

	EXPECT_EQ(cl_dma_map(cl, 16 * P, 16 * P, 0, RW, fd), 0);
	EXPECT_EQ(cl_dma_map(cl, 48 * P, 16 * P, 0, RW, fd), 0);
	EXPECT_EQ(cl_dma_map(cl, 16 * P, 16 * P, 0, RW, fd), EEXIST);
	EXPECT_EQ(cl_dma_map(cl, 15 * P, 2 * P, 0, RW, fd), EEXIST);
	EXPECT_EQ(cl_dma_map(cl, 31 * P, 2 * P, 0, RW, fd), EEXIST);
	EXPECT_EQ(cl_dma_map(cl, 20 * P, P, 0, RW, -1), EEXIST);
	EXPECT_EQ(cl_dma_map(cl, 0, 64 * P, 0, RW, fd), EEXIST);
	EXPECT_EQ(cl_dma_map(cl, 32 * P, 16 * P, 0, RW, fd), 0);
	EXPECT_EQ(cl_dma_map(cl, 15 * P, P, 0, RW, fd), 0);
	/* The server has one mapping for any number of ranges. */
	EXPECT_EQ(server_maps(), 1);
	/* A call that would split a range changes nothing. */
	EXPECT_EQ(cl_dma_unmap(cl, 15 * P, 2 * P, 0), EINVAL);
	EXPECT_EQ(cl_dma_unmap(cl, 17 * P, 15 * P, 0), EINVAL);
	EXPECT_EQ(cl_dma_unmap(cl, 20 * P, P, 0), EINVAL);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 0, 0), EINVAL);
	EXPECT_EQ(cl_dma_unmap(cl, P, P, 1), EINVAL);
	EXPECT_EQ(cl_dma_unmap(cl, P, P, 2), EINVAL);
	EXPECT_EQ(cl_dma_unmap(cl, P, 0, 2), EINVAL);
	EXPECT_EQ(cl_dma_unmap(cl, 2 * P, ~0ULL - P + 1, 0), EINVAL);
	EXPECT_EQ(cl_dma_map(cl, 15 * P, P, 0, RW, fd), EEXIST);
	/* Unmap one range, several, none, and all. */
	EXPECT_EQ(cl_dma_unmap(cl, 15 * P, P, 0), 0);
	EXPECT_EQ(unmapped(cl), P);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 48 * P, 0), 0);
	EXPECT_EQ(unmapped(cl), 32 * P);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 48 * P, 0), 0);
	EXPECT_EQ(unmapped(cl), 0);
	EXPECT_EQ(cl_dma_map(cl, 0, P, 0, RW, -1), 0);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 0, 2), 0);
	EXPECT_EQ(unmapped(cl), 17 * P);
	EXPECT_EQ(server_maps(), 0);
	close(fd);
	cl_close(cl);
}

/* Files that could crash the server, or that it cannot write. */
static void unsafe(void)
{
	struct cl *cl = cl_attach(1);
	int sealed = memfd(16 * P, true);
	int open_ended = memfd(16 * P, false);
	int file = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char path[64];
	int readonly;

	/* A command to map a file that may shrink is refused. */
	EXPECT_EQ(cl_dma_map(cl, 0, P, 0, RW, open_ended), EINVAL);
	EXPECT(said("node 1: client memory at 0x0 cannot be mapped: its file may shrink"));
	EXPECT_EQ(cl_dma_map(cl, P, P, 0, RW, file), EINVAL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sealed);
	readonly = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(cl_dma_map(cl, 2 * P, P, 0, RW, readonly), EACCES);
	EXPECT(said("node 1: client memory at 0x2000 cannot be mapped: its file cannot be written"));
	/*
	 * Ranges without a file: ROM may come first, video memory only after
	 * other memory.
	 */
	EXPECT_EQ(cl_dma_map(cl, 3 * P, P, 0, DMA_READ, -1), 0);
	EXPECT_EQ(cl_dma_map(cl, 4 * P, P, 0, RW, -1), EINVAL);
	EXPECT_EQ(server_maps(), 0);
	EXPECT(!ftruncate(open_ended, 0));
	EXPECT_EQ(cl_dma_map(cl, 5 * P, P, 0, RW, sealed), 0);
	EXPECT_EQ(cl_dma_map(cl, 4 * P, P, 0, RW, -1), 0);
	EXPECT_EQ(server_maps(), 1);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 6 * P, 0), 0);
	EXPECT_EQ(unmapped(cl), 3 * P);
	close(readonly);
	close(sealed);
	close(open_ended);
	close(file);
	cl_close(cl);
	cl = cl_attach(2);
	EXPECT_EQ(cl_dma_map(cl, 0, P, 0, RW, -1), EINVAL);
	EXPECT(said("node 2: client memory at 0x0 cannot be mapped: it has no file: start QEMU with memory-backend-memfd,share=on"));
	cl_close(cl);
}

/*
 * Maps a range for every page, as with an IOMMU, up to a limit: calls stay
 * fast.
 */
static void many(void)
{
	struct cl *cl = cl_attach(3);
	struct vfu_dma_map map = { .argsz = sizeof(map), .flags = RW, .size = P };
	int fd = memfd(64 * P, true);
	u32 i;

	for (i = 0; i < MAX_MAPS; i++) {
		map.iova = (u64)(i * 7919 % MAX_MAPS + 1) * 2 * P;
		map.offset = i % 64 * P;
		cl_send(cl, VFU_DMA_MAP, VFU_NO_REPLY, &map, sizeof(map), &fd, 1);
	}
	EXPECT_EQ(cl_dma_map(cl, P, P, 0, RW, fd), ENOSPC);
	EXPECT(said("the client has mapped as many ranges as it may: see --max-maps"));
	EXPECT_EQ(server_maps(), 1);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 3 * P, 0), 0);
	EXPECT_EQ(unmapped(cl), P);
	EXPECT_EQ(cl_dma_map(cl, P, P, 0, RW, fd), 0);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 0, 2), 0);
	EXPECT_EQ(unmapped(cl), MAX_MAPS * P);
	EXPECT_EQ(server_maps(), 0);
	close(fd);
	cl_close(cl);
}

static void files(void)
{
	struct cl *cl = cl_attach(0);
	u32 i;

	for (i = 0; i < DMA_MAX_FILES + 8; i++) {
		int fd = memfd(P, true);

		EXPECT_EQ(cl_dma_map(cl, i * P, P, 0, RW, fd),
			  i < DMA_MAX_FILES ? 0 : ENOSPC);
		close(fd);
	}
	EXPECT_EQ(server_maps(), DMA_MAX_FILES);
	cl_close(cl);
	cl_close(cl_attach(0));
	EXPECT_EQ(server_maps(), 0);
}

/*
 * Pages of a sparse file are charged to the process that touches them first,
 * the server.  So each client has a budget of its own.
 */
static void budget(void)
{
	struct cl *cl = cl_attach(3);
	struct cl *other;
	int huge = memfd(1ULL << 40, true);
	int most = memfd(MAX_MEMORY, true);
	int least = memfd(P, true);
	int half[2] = { memfd(MAX_MEMORY / 2, true), memfd(MAX_MEMORY / 2, true) };
	u32 i;

	/* A file counts as a whole, even if a client maps little of it. */
	EXPECT_EQ(cl_dma_map(cl, 0, P, 0, RW, huge), ENOMEM);
	EXPECT(said("node 3: client memory at 0x0 cannot be mapped: its files would exceed the client's budget: see --max-memory"));
	EXPECT_EQ(server_maps(), 0);
	EXPECT_EQ(cl_dma_map(cl, 0, P, 0, RW, most), 0);
	/* A file counts once, for any number of ranges. */
	EXPECT_EQ(cl_dma_map(cl, P, P, P, RW, most), 0);
	EXPECT_EQ(cl_dma_map(cl, 2 * P, P, P, RW, most), 0);
	EXPECT_EQ(cl_dma_map(cl, 3 * P, P, 0, RW, least), ENOMEM);
	EXPECT_EQ(server_maps(), 1);
	other = cl_attach(0);
	EXPECT_EQ(cl_dma_map(other, 0, P, 0, RW, most), 0);
	EXPECT_EQ(cl_dma_unmap(cl, 0, 2 * P, 0), 0);
	EXPECT_EQ(cl_dma_map(cl, 3 * P, P, 0, RW, least), ENOMEM);
	EXPECT_EQ(cl_dma_unmap(cl, 2 * P, P, 0), 0);
	EXPECT_EQ(cl_dma_map(cl, 3 * P, P, 0, RW, least), 0);
	EXPECT_EQ(cl_dma_map(cl, 4 * P, P, 0, RW, most), ENOMEM);
	EXPECT_EQ(server_maps(), 2);
	/* Two files of half the budget, one of which is mapped three times. */
	EXPECT_EQ(cl_dma_unmap(cl, 0, 0, 2), 0);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(cl_dma_map(cl, i * P, P, 0, RW, half[0]), 0);
	EXPECT_EQ(cl_dma_map(cl, 3 * P, P, 0, RW, half[1]), 0);
	EXPECT_EQ(cl_dma_map(cl, 4 * P, P, 0, RW, least), ENOMEM);
	cl_close(other);
	cl_close(cl);
	close(half[0]);
	close(half[1]);
	close(huge);
	close(most);
	close(least);
}

/* Commands with addresses in memory that ends, has a hole, or is read-only. */
static void reach(void)
{
	struct host *h = host_new("", &cfg_default);
	struct cl *cl = client_of(0);
	struct host_node *n = &h->node[0];
	struct angara_hw_node_counters *got;
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_COUNTERS };
	int fd = memfd(2 * P, true);
	char *mem = mmap(NULL, 2 * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	u64 at = 1ULL << 40;

	/* Map two pages in reverse order of the file, then leave a hole. */
	EXPECT_EQ(cl_dma_map(cl, at, P, P, RW, fd), 0);
	EXPECT_EQ(cl_dma_map(cl, at + P, P, 0, RW, fd), 0);
	cmd.counters.addr = cpu_to_le64(at + P - 64);
	cmd.counters.length = cpu_to_le32(sizeof(*got));
	memset(mem, 0xAA, 2 * P);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_OK);
	/*
	 * The 128 bytes are at the end of one page and the start of the next
	 * one.
	 */
	EXPECT_EQ((u8)mem[2 * P - 65], 0xAA);
	EXPECT(!memcmp(mem + 2 * P - 64, (char[56]){ 0 }, 56));
	EXPECT_EQ((u8)mem[64], 0xAA);
	EXPECT_EQ((u8)mem[63], 0);
	cmd.counters.addr = cpu_to_le64(at + 2 * P - 64);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	cmd.counters.addr = cpu_to_le64(at - 64);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	cmd.counters.addr = cpu_to_le64(~0ULL - 63);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(cl_dma_unmap(cl, at, 2 * P, 0), 0);
	cmd.counters.addr = cpu_to_le64(at);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(cl_dma_map(cl, at, P, 0, DMA_READ, fd), 0);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(cl_dma_map(cl, at + P, P, 0, DMA_WRITE, fd), 0);
	cmd.counters.addr = cpu_to_le64(at + P);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_OK);
	EXPECT_EQ(n->acq_ci, n->asq_pi);
	munmap(mem, 2 * P);
	close(fd);
	host_free(h);
}

const struct test_case dma_cases[] = {
	{ "dma: invalid ranges", refused },
	{ "dma: ranges that overlap, or are cut", overlaps },
	{ "dma: files that are unsafe to map", unsafe },
	{ "dma: very many ranges", many },
	{ "dma: many files", files },
	{ "dma: more memory than a client may map", budget },
	{ "dma: no access beyond a range", reach },
	{ NULL, NULL },
};
