// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl: requests to the netlink family and their answers.
 *
 * A dump that the kernel marks as inconsistent (something changed while it ran)
 * is repeated; the last attempt is returned in any case, with a warning.
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "ang_nl_attrs.h"
#include "angaractl.h"
#include "../vfio/control.h"

#define DUMP_TRIES	8
#define RECEIVE_BYTES	(256 * 1024)
#define EVENT_BYTES	(1024 * 1024)
#define MAX_ERRNO	4095

struct answer {
	struct nl *nl;
	struct json_object *records;	/* records received, in order */
	uint8_t command;		/* of the request */
	int error;			/* -errno */
	bool done;
	bool torn;			/* the dump is inconsistent */
};

int ctl_start(struct nl *nl)
{
	int one = 1;

	memset(nl, 0, sizeof(*nl));
	nl->sock = nl_socket_alloc();
	if (!nl->sock)
		return fail("no memory for a netlink socket");
	nl_socket_disable_auto_ack(nl->sock);
	if (options.server) {
		int status = server_start(nl, options.server);

		if (status)
			ctl_stop(nl);
		return status;
	}
	if (genl_connect(nl->sock)) {
		ctl_stop(nl);
		return fail("no generic netlink in this kernel");
	}
	nl_socket_set_buffer_size(nl->sock, RECEIVE_BYTES, 0);
	setsockopt(nl_socket_get_fd(nl->sock), SOL_NETLINK, NETLINK_EXT_ACK,
		   &one, sizeof(one));
	nl->family = genl_ctrl_resolve(nl->sock, ANGARA_GENL_NAME);
	if (nl->family < 0) {
		ctl_stop(nl);
		return fail("no angara netlink family: load the module angara (modprobe angara_loop fabric=torus:2x2x2)");
	}
	return DONE;
}

void ctl_stop(struct nl *nl)
{
	server_stop();
	nl_socket_free(nl->sock);
	nl->sock = NULL;
}

/**
 * ctl_listen() - receive the events of a multicast group
 * @nl: socket, which serves no requests from now on
 * @group: ANGARA_GENL_MCGRP or ANGARA_GENL_MCGRP_ADMIN
 *
 * Return: 0; an error of libnl: -NLE_PERM the group needs CAP_NET_ADMIN.
 */
int ctl_listen(struct nl *nl, const char *group)
{
	int id = genl_ctrl_resolve_grp(nl->sock, ANGARA_GENL_NAME, group);

	if (id < 0)
		return id;
	nl_socket_disable_seq_check(nl->sock);
	nl_socket_set_buffer_size(nl->sock, EVENT_BYTES, 0);
	return nl_socket_add_membership(nl->sock, id);
}

/*
 * If there is no room for an attribute, the message is dropped, and ctl_call()
 * reports this.
 */
static void put(struct nl_msg **msg, int attr, const void *value, int size)
{
	if (!*msg || !nla_put(*msg, attr, size, value))
		return;
	nlmsg_free(*msg);
	*msg = NULL;
}

void ctl_put_u8(struct nl_msg **msg, int attr, uint8_t value)
{
	put(msg, attr, &value, sizeof(value));
}

void ctl_put_u16(struct nl_msg **msg, int attr, uint16_t value)
{
	put(msg, attr, &value, sizeof(value));
}

void ctl_put_u32(struct nl_msg **msg, int attr, uint32_t value)
{
	put(msg, attr, &value, sizeof(value));
}

void ctl_put_u64(struct nl_msg **msg, int attr, uint64_t value)
{
	put(msg, attr, &value, sizeof(value));
}

void ctl_put_bytes(struct nl_msg **msg, int attr, const void *value, size_t size)
{
	put(msg, attr, value, size);
}

struct nl_msg *ctl_request(struct nl *nl, uint8_t command,
			  const struct about *about)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg)
		return NULL;
	if (!genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
			 NLM_F_REQUEST, command, ANGARA_GENL_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	if (about->has_dev)
		ctl_put_u32(&msg, ANG_NL_DEV, about->dev);
	if (about->has_fabric)
		ctl_put_u64(&msg, ANG_NL_FABRIC, about->fabric);
	if (about->has_tree)
		ctl_put_u8(&msg, ANG_NL_ID, about->tree);
	if (about->has_router)
		ctl_put_u32(&msg, ANGARA_A_TREE_ROUTER, about->router);
	return msg;
}

/* Name of the attribute at an offset in the request, for an error message. */
static const char *attr_at(struct nlmsghdr *request, uint32_t offset)
{
	uint32_t first = NLMSG_HDRLEN + GENL_HDRLEN;

	if (offset < first || offset + sizeof(struct nlattr) > request->nlmsg_len)
		return NULL;
	return attr_name(genlmsg_hdr(request)->cmd,
			 nla_type((struct nlattr *)((char *)request + offset)));
}

/**
 * replace_controls() - replace control characters, which change a terminal
 * @text: text of a server, changed in place
 * @keep: control characters that stay
 */
void replace_controls(char *text, const char *keep)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text) && !strchr(keep, *text))
			*text = '?';
}

/* Reads what the extended acknowledgement says into nl->error. */
static void read_extack(struct nl *nl, struct nlattr *head, int len,
			struct nlmsghdr *request)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	const char *text, *attr = NULL;
	size_t bytes;

	if (nla_parse(tb, NLMSGERR_ATTR_MAX, head, len, NULL) < 0 ||
	    !tb[NLMSGERR_ATTR_MSG])
		return;
	/* A server may leave out the zero byte. */
	text = nla_data(tb[NLMSGERR_ATTR_MSG]);
	bytes = strnlen(text, (size_t)nla_len(tb[NLMSGERR_ATTR_MSG]));
	if (tb[NLMSGERR_ATTR_OFFS] && request &&
	    nla_len(tb[NLMSGERR_ATTR_OFFS]) >= (int)sizeof(uint32_t))
		attr = attr_at(request, nla_get_u32(tb[NLMSGERR_ATTR_OFFS]));
	if (attr && (bytes < strlen(attr) || memcmp(text, attr, strlen(attr))))
		snprintf(nl->error, sizeof(nl->error), "%s: %.*s", attr, (int)bytes, text);
	else
		snprintf(nl->error, sizeof(nl->error), "%.*s", (int)bytes, text);
	replace_controls(nl->error, "");
}

/* Stores an error, with a text in case the kernel sends only the number, as 6.1 does for dumps. */
static void take_error(struct answer *answer, int error)
{
	/* A server may send any number. */
	if (error >= 0 || error < -MAX_ERRNO)
		error = -EPROTO;
	answer->error = error;
	snprintf(answer->nl->error, sizeof(answer->nl->error), "%s",
		 error == -EPERM ? "permission denied: the request needs CAP_NET_ADMIN" :
		 error == -ENODEV ? "there is no such device" :
		 strerror(-error));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *header = (struct nlmsghdr *)err - 1;
	struct answer *answer = arg;
	/* libnl has checked that the message has all of @err. */
	uint32_t bytes = header->nlmsg_len - NLMSG_HDRLEN, at = sizeof(*err);

	(void)from;
	take_error(answer, err->error);
	answer->done = true;
	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return NL_STOP;
	if (!(header->nlmsg_flags & NLM_F_CAPPED)) {
		if (err->msg.nlmsg_len < NLMSG_HDRLEN || err->msg.nlmsg_len > bytes)
			return NL_STOP;
		at += NLMSG_ALIGN(err->msg.nlmsg_len) - NLMSG_HDRLEN;
	}
	if (bytes > at)
		read_extack(answer->nl, (struct nlattr *)((char *)err + at), bytes - at,
			    header->nlmsg_flags & NLM_F_CAPPED ? NULL :
			    &err->msg);
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct answer *answer = arg;

	(void)msg;
	answer->done = true;
	return NL_STOP;
}

/* End of a dump; the message has the kernel's return value. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct answer *answer = arg;
	int error = 0;

	if (nlmsg_datalen(header) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(header), sizeof(error));
	if (error < 0)
		take_error(answer, error);
	answer->done = true;
	return NL_STOP;
}

static int on_torn(struct nl_msg *msg, void *arg)
{
	struct answer *answer = arg;

	(void)msg;
	answer->torn = true;
	return NL_OK;
}

static int on_record(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct json_object *record = record_of(header);
	struct answer *answer = arg;

	/* In a record of another command the same key may have another type. */
	if (record && genlmsg_hdr(header)->cmd == answer->command)
		json_object_array_add(answer->records, record);
	else
		json_object_put(record);
	return NL_OK;
}

/* Reports that no answer can be received.  @err: error of libnl */
static void take_loss(struct answer *answer, int err)
{
	struct nl *nl = answer->nl;

	answer->error = -EIO;
	if (options.server && err == -NLE_FAILURE)
		snprintf(nl->error, sizeof(nl->error),
			 "the server has closed the connection: it is gone, or has %u clients already",
			 CONTROL_SESSIONS);
	else
		snprintf(nl->error, sizeof(nl->error), "%s: %s",
			 options.server ? "the server" : "netlink",
			 nl_geterror(err));
}

/* Sends @msg, receives until the answer is complete, and frees @msg. */
static int exchange(struct nl *nl, struct nl_msg *msg, struct answer *answer)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err = 0;

	answer->nl = nl;
	nl->error[0] = '\0';
	if (!cb || !msg) {
		take_error(answer, -ENOMEM);
		goto out;
	}
	answer->command = genlmsg_hdr(nlmsg_hdr(msg))->cmd;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, answer);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, answer);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, answer);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_torn, answer);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_record, answer);
	server_attach(nl, cb);

	err = nl_send_auto(nl->sock, msg);
	while (err >= 0 && !answer->done)
		err = nl_recvmsgs(nl->sock, cb);
	if (err < 0 && !answer->error)
		take_loss(answer, err);
out:
	nlmsg_free(msg);
	nl_cb_put(cb);
	return answer->error;
}

/*
 * Requests one object.  Returns 0 or -errno with the reason in nl->error;
 * @reply receives the record, unless it is NULL.
 */
int ctl_call(struct nl *nl, struct nl_msg *msg, struct json_object **reply)
{
	struct answer answer = { .records = json_object_new_array() };
	int err;

	if (msg)
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_ACK;
	err = exchange(nl, msg, &answer);
	if (!err && reply) {
		*reply = json_object_get(
			json_object_array_get_idx(answer.records, 0));
		if (!*reply) {
			take_error(&answer, -ENODATA);
			err = -ENODATA;
		}
	}
	json_object_put(answer.records);
	return err;
}

int ctl_get(struct nl *nl, uint8_t command, const struct about *about,
	   struct json_object **reply)
{
	return ctl_call(nl, ctl_request(nl, command, about), reply);
}

/* Delegates a tree on a device.  Returns 0, or -errno with nl->error. */
int ctl_delegate(struct nl *nl, uint32_t dev, uint8_t id, uint32_t pkey)
{
	struct about about = { .has_dev = true, .dev = dev, .has_tree = true,
			       .tree = id };
	struct nl_msg *msg = ctl_request(nl, ANGARA_CMD_TREE_DELEGATE, &about);

	ctl_put_u32(&msg, ANGARA_A_TREE_DELEGATED, pkey);
	return ctl_call(nl, msg, NULL);
}

/* Returns 0 with an array of records, or -errno with nl->error. */
int ctl_dump(struct nl *nl, uint8_t command, const struct about *about,
	    struct json_object **records)
{
	int err = 0;

	for (int i = 0; i < DUMP_TRIES; i++) {
		struct nl_msg *msg = ctl_request(nl, command, about);
		struct answer answer = { .records = json_object_new_array() };

		if (msg)
			nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
		err = exchange(nl, msg, &answer);
		if (!err && (!answer.torn || i + 1 == DUMP_TRIES)) {
			if (answer.torn)
				warn("devices or trees changed during each of %d reads: the output may be inconsistent",
				     DUMP_TRIES);
			*records = answer.records;
			return 0;
		}
		json_object_put(answer.records);
		if (err)
			break;
	}
	return err;
}

/* After an empty dump: does the fabric exist, but have no such objects?  Return: DONE: yes. */
static int fabric_there(struct nl *nl, const struct about *about)
{
	struct about fabric = { .has_fabric = true, .fabric = about->fabric };
	struct json_object *devs;
	size_t count;

	if (ctl_dump(nl, ANGARA_CMD_DEV_GET, &fabric, &devs))
		return fail("%s", nl->error);
	count = json_object_array_length(devs);
	json_object_put(devs);
	return count ? DONE : fail("there is no fabric 0x%llx; see angaractl dev list",
				   (unsigned long long)about->fabric);
}

int ctl_dump_or_fail(struct nl *nl, uint8_t command, const struct about *about,
		    struct json_object **records)
{
	char where[32] = "";
	int status = DONE;

	if (ctl_dump(nl, command, about, records)) {
		if (about->has_dev)
			snprintf(where, sizeof(where), "angara%u: ", about->dev);
		return fail("%s%s", where, nl->error);
	}
	if (about->has_fabric && !json_object_array_length(*records))
		status = fabric_there(nl, about);
	if (status)
		json_object_put(*records);
	return status;
}
