// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first message: versions and capabilities.
 */
#include "client.h"

/* The proposal of QEMU 11.1. */
static const char qemu[] = "{\"capabilities\": {\"max_msg_fds\": 8, "
	"\"max_data_xfer_size\": 1048576, \"pgsizes\": 4096, "
	"\"max_dma_maps\": 65535, \"write_multiple\": true, "
	"\"twin_socket\": {\"supported\": true}}}";

static void version(void)
{
	struct cl *cl = cl_open(0);
	const char *text = (const char *)cl->body + 4;

	EXPECT_EQ(cl_version(cl, 0, 0, qemu), 0);
	EXPECT_EQ(cl->body[0] | cl->body[1] | cl->body[2] | cl->body[3], 0);
	EXPECT_EQ(cl->body[cl->len - 1], 0);
	EXPECT(strstr(text, "\"max_msg_fds\":16") ||
	       strstr(text, "\"max_msg_fds\": 16"));
	/* The default, which is also the minimum if a client proposes nothing. */
	EXPECT(strstr(text, "\"max_data_xfer_size\":1048576") ||
	       strstr(text, "\"max_data_xfer_size\": 1048576"));
	EXPECT(strstr(text, "65535"));
	EXPECT(strstr(text, "write_multiple"));
	EXPECT(!strstr(text, "twin_socket"));
	/* The version is negotiated once. */
	EXPECT_EQ(cl_version(cl, 0, 0, qemu), EINVAL);
	EXPECT_EQ(cl_get(cl, CONFIG, 0, 4), 0x10f01af4);
	cl_close(cl);
}

/* The answer contains only capabilities that the client proposed. */
static void version_less(void)
{
	static const char * const less[] = {
		NULL, "{}", "{\"capabilities\":{}}", "{\"else\":[1,2]}",
		"{\"capabilities\":{\"write_multiple\":false}}",
	};
	u32 i;

	for (i = 0; i < NUM(less); i++) {
		struct cl *cl;
		int ret;

		do {
			cl = cl_open(0);
			ret = cl_version(cl, 0, 7, less[i]);
			if (ret == CLOSED)
				cl_close(cl);
		} while (ret == CLOSED);
		EXPECT_EQ(ret, 0);
		EXPECT_EQ(cl->body[2], 0);
		EXPECT(!strstr((char *)cl->body + 4, "write_multiple"));
		EXPECT(!strstr((char *)cl->body + 4, "max_"));
		cl_close(cl);
	}
}

#define CAPS(what)	"{\"capabilities\":{" what "}}"

static void version_bad(void)
{
	static const char * const bad[] = {
		"", "{", "[]", "7", "{\"capabilities\":7}", "{\"capabilities\"",
		"{\"capabilities\":{}} more",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
		"null", "{\"capabilities\":null}",
		"{\"capabilities\":{},}", "/**/{}", "{\"\xff\":1}",
		CAPS("\"max_msg_fds\":\"8\""), CAPS("\"max_msg_fds\":-1"),
		CAPS("\"max_msg_fds\":1.5"),
		CAPS("\"max_data_xfer_size\":true"),
		CAPS("\"max_data_xfer_size\":[]"),
		CAPS("\"max_data_xfer_size\":1e99"),
		CAPS("\"max_dma_maps\":{}"), CAPS("\"pgsizes\":null"),
		/* Only pages of 4 KiB are supported. */
		CAPS("\"pgsizes\":65536"), CAPS("\"pgsizes\":0"),
		CAPS("\"write_multiple\":1"), CAPS("\"twin_socket\":true"),
		CAPS("\"twin_socket\":{\"supported\":\"yes\"}"),
	};
	u32 i;

	for (i = 0; i < NUM(bad); i++) {
		struct cl *cl = cl_attach(0);

		cl_close(cl);
		/* The predecessor of a client may not be detached yet. */
		do {
			int ret;

			cl = cl_open(0);
			ret = cl_version(cl, 0, 0, bad[i]);
			/*
			 * The server accepts an empty text like a missing one.
			 */
			EXPECT(ret == CLOSED || ret == (*bad[i] ? EINVAL : 0));
			if (ret != CLOSED) {
				if (ret)
					EXPECT_EQ(cl_recv(cl), CLOSED);
				break;
			}
			cl_close(cl);
		} while (1);
		cl_close(cl);
	}
	EXPECT(said("version data is not a JSON object"));
}

/* The server refuses text without a terminator, or with data after it. */
static void version_end(void)
{
	static const struct {
		const char *body;
		u32 len;
	} bad[] = { { "\0\0\0\0{}", 6 }, { "\0\0\0\0{}\0more", 12 } };
	u32 i;

	for (i = 0; i < NUM(bad); i++) {
		struct cl *cl;
		int ret;

		for (;;) {
			cl = cl_open(2);
			ret = cl_call(cl, VFU_VERSION, bad[i].body, bad[i].len);
			if (ret != CLOSED)
				break;
			cl_close(cl);
		}
		EXPECT_EQ(ret, EINVAL);
		EXPECT_EQ(cl_recv(cl), CLOSED);
		cl_close(cl);
	}
}

/* Unknown capabilities are left out of the answer. */
static void version_more(void)
{
	static const char more[] = CAPS("\"migration\":{\"pgsize\":4096},"
		"\"pgsizes\":2101248,\"max_data_xfer_size\":8,\"else\":[1],"
		"\"twin_socket\":{\"supported\":true,\"fd_index\":1}");
	struct cl *cl;

	while (true) {
		int ret;

		cl = cl_open(0);
		ret = cl_version(cl, 0, 65535, more);
		if (!ret)
			break;
		EXPECT_EQ(ret, CLOSED);
		cl_close(cl);
	}
	EXPECT_EQ(cl->body[2] | cl->body[3], 0);
	EXPECT(!strstr((char *)cl->body + 4, "migration"));
	EXPECT(!strstr((char *)cl->body + 4, "else"));
	EXPECT(!strstr((char *)cl->body + 4, "twin"));
	EXPECT(strstr((char *)cl->body + 4, "\"pgsizes\":4096"));
	cl_close(cl);
}

/* Retries until the card is free: the predecessor may not be detached yet. */
static int first_word(struct cl **cl, u32 command, const void *body, u32 len)
{
	int ret;

	for (;;) {
		*cl = cl_open(3);
		ret = cl_call(*cl, command, body, len);
		if (ret != CLOSED)
			return ret;
		cl_close(*cl);
	}
}

static void version_first(void)
{
	static const u8 other[4] = { 1 };
	u8 body[64] = { 32 };
	struct cl *cl;
	u32 command;

	EXPECT_EQ(first_word(&cl, VFU_VERSION, other, 4), EPROTO);
	EXPECT_EQ(cl_recv(cl), CLOSED);
	cl_close(cl);
	EXPECT(said("the client speaks vfio-user 1.0, the server only 0.0: use QEMU 10.1"));
	for (command = 0; command < 20; command++) {
		if (command == VFU_VERSION)
			continue;
		EXPECT_EQ(first_word(&cl, command, body, 32), EPROTO);
		EXPECT_EQ(cl_recv(cl), CLOSED);
		cl_close(cl);
	}
}

const struct test_case version_cases[] = {
	{ "version: what QEMU proposes", version },
	{ "version: less is proposed", version_less },
	{ "version: invalid data", version_bad },
	{ "version: the end of the data", version_end },
	{ "version: more is proposed", version_more },
	{ "version: it has to come first", version_first },
	{ NULL, NULL },
};
