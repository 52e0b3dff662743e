// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of a client, one by one.
 *
 * proto_handle() is the whole protocol: bytes and file descriptors in, a reply
 * out.  It has no socket, so tests can pass it any bytes.  A message is checked
 * against the table below before it is used: length of its body, number of file
 * descriptors, and that the version was negotiated.
 *
 * The server replies to an invalid message with an error.  It closes the
 * connection only if it no longer knows where the next message starts.
 */
#include <errno.h>
#include <linux/vfio.h>

#include "proto.h"

/* Return: bytes of the reply's body, or -errno. */
typedef int (*handler)(struct card *c, struct vfu_msg *m, u8 *out);

static int put(u8 *out, const void *what, size_t len)
{
	memcpy(out, what, len);
	return (int)len;
}

static int do_version(struct card *c, struct vfu_msg *m, u8 *out)
{
	int ret;

	if (c->negotiated)
		return -EINVAL;
	ret = version_handle(c, m, out, VFU_MAX_OTHER);
	c->negotiated = ret > 0;
	return ret;
}

static int do_dma_map(struct card *c, struct vfu_msg *m, u8 *out)
{
	struct vfu_dma_map map;
	const char *why;
	int ret;

	memcpy(&map, m->body, sizeof(map));
	if (map.argsz < sizeof(map))
		return -EINVAL;
	ret = dma_map(&c->dma, map.iova, map.size, map.offset, map.flags,
		      m->num_fds ? m->fds[0] : -1, &why);
	if (ret && why)
		card_say(c, "client memory at 0x%llx cannot be mapped: %s",
			 (unsigned long long)map.iova, why);
	return ret;
}

static int do_dma_unmap(struct card *c, struct vfu_msg *m, u8 *out)
{
	struct vfu_dma_unmap unmap;
	bool all;
	int ret;

	memcpy(&unmap, m->body, sizeof(unmap));
	all = unmap.flags & VFIO_DMA_UNMAP_FLAG_ALL;
	if (unmap.argsz < sizeof(unmap) ||
	    unmap.flags & ~VFIO_DMA_UNMAP_FLAG_ALL || all != !unmap.size)
		return -EINVAL;
	ret = dma_unmap(&c->dma, unmap.iova, unmap.size, &unmap.size);
	return ret ? ret : put(out, &unmap, sizeof(unmap));
}

static int do_info(struct card *c, struct vfu_msg *m, u8 *out)
{
	u32 info[4];

	memcpy(info, m->body, sizeof(info));
	if (info[0] < sizeof(info))
		return -EINVAL;
	info[0] = sizeof(info);
	info[1] = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI;
	info[2] = VFIO_PCI_NUM_REGIONS;
	info[3] = VFIO_PCI_NUM_IRQS;
	return put(out, info, sizeof(info));
}

/* No region can be mapped into the client. */
static int do_region_info(struct card *c, struct vfu_msg *m, u8 *out)
{
	struct vfio_region_info info;

	memcpy(&info, m->body, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.size = bar_size(c, info.index);
	info.flags = info.size ? VFIO_REGION_INFO_FLAG_READ |
				 VFIO_REGION_INFO_FLAG_WRITE : 0;
	info.cap_offset = 0;
	info.offset = 0;
	return put(out, &info, sizeof(info));
}

static int do_irq_info(struct card *c, struct vfu_msg *m, u8 *out)
{
	u32 info[4];	/* argsz, flags, index, count */

	memcpy(info, m->body, sizeof(info));
	if (info[0] < sizeof(info) || info[2] >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	info[0] = sizeof(info);
	info[3] = irq_count(c, info[2]);
	info[1] = info[3] ? VFIO_IRQ_INFO_EVENTFD : 0;
	if (info[2] == VFIO_PCI_INTX_IRQ_INDEX)
		info[1] |= VFIO_IRQ_INFO_MASKABLE | VFIO_IRQ_INFO_AUTOMASKED;
	return put(out, info, sizeof(info));
}

/* Set eventfds, or remove them if there are none. */
static int wire(struct card *c, const struct vfio_irq_set *set,
		struct vfu_msg *m)
{
	u32 i;
	int ret;

	if (!(set->flags & VFIO_IRQ_SET_ACTION_TRIGGER))
		return -EOPNOTSUPP;
	if (m->num_fds && m->num_fds != set->count)
		return -EINVAL;
	ret = irq_set(c, set->index, set->start, set->count,
		      m->num_fds ? m->fds : NULL);
	for (i = 0; !ret && i < m->num_fds; i++)
		m->fds[i] = -1;
	return ret;
}

static bool one_bit(u32 set)
{
	return set && !(set & (set - 1));
}

static int do_set_irqs(struct card *c, struct vfu_msg *m, u8 *out)
{
	struct vfio_irq_set set;
	const u8 *which = NULL;
	u32 data, action, count, len;

	memcpy(&set, m->body, sizeof(set));
	data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	action = set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	if (set.argsz < sizeof(set) || set.index >= VFIO_PCI_NUM_IRQS ||
	    set.flags & ~(data | action) || !one_bit(data) || !one_bit(action))
		return -EINVAL;
	count = irq_count(c, set.index);
	if (set.start > count || set.count > count - set.start)
		return -EINVAL;
	len = data == VFIO_IRQ_SET_DATA_BOOL ? set.count : 0;
	if (m->len != sizeof(set) + len)
		return -EINVAL;
	if (data == VFIO_IRQ_SET_DATA_EVENTFD)
		return wire(c, &set, m);
	if (m->num_fds)
		return -EINVAL;
	if (len)
		which = m->body + sizeof(set);
	/*
	 * A request without data, with start 0 and count 0, removes all
	 * eventfds.
	 */
	if (!set.count && !set.start && data == VFIO_IRQ_SET_DATA_NONE &&
	    action == VFIO_IRQ_SET_ACTION_TRIGGER)
		return irq_set(c, set.index, 0, count, NULL);
	if (!set.count)
		return -EINVAL;
	if (action == VFIO_IRQ_SET_ACTION_TRIGGER)
		return irq_trigger(c, set.index, set.start, set.count, which);
	return irq_mask(c, set.index, set.start, set.count, which,
			action == VFIO_IRQ_SET_ACTION_MASK);
}

static int do_region_read(struct card *c, struct vfu_msg *m, u8 *out)
{
	struct vfu_region at;
	int ret;

	memcpy(&at, m->body, sizeof(at));
	if (at.count > VFU_MAX_DATA)
		return -EINVAL;
	ret = bar_read(c, at.region, at.offset, out + sizeof(at), at.count);
	if (ret)
		return ret;
	return put(out, &at, sizeof(at)) + (int)at.count;
}

static int do_region_write(struct card *c, struct vfu_msg *m, u8 *out)
{
	struct vfu_region at;
	int ret;

	memcpy(&at, m->body, sizeof(at));
	if (at.count > VFU_MAX_DATA || at.count != m->len - sizeof(at))
		return -EINVAL;
	ret = bar_write(c, at.region, at.offset, m->body + sizeof(at), at.count);
	return ret ? ret : put(out, &at, sizeof(at));
}

static int do_write_multi(struct card *c, struct vfu_msg *m, u8 *out)
{
	u64 count, i;
	struct vfu_write w;
	int ret = 0;

	memcpy(&count, m->body, sizeof(count));
	if ((m->len - sizeof(count)) % sizeof(w) ||
	    count != (m->len - sizeof(count)) / sizeof(w))
		return -EINVAL;
	for (i = 0; !ret && i < count; i++) {
		memcpy(&w, m->body + sizeof(count) + i * sizeof(w), sizeof(w));
		if (w.count > sizeof(w.data))
			return -EINVAL;
		ret = bar_write(c, w.region, w.offset, w.data, w.count);
	}
	return ret ? ret : put(out, &count, sizeof(count));
}

static int do_reset(struct card *c, struct vfu_msg *m, u8 *out)
{
	card_reset(c);
	return 0;
}

/* Lengths of bodies; 0 in @max: equal to @min. */
static const struct command {
	handler fn;
	u32 min;
	u32 max;
	u32 fds;
} commands[] = {
	[VFU_VERSION] = { do_version, sizeof(struct vfu_version), VFU_MAX_OTHER },
	[VFU_DMA_MAP] = { do_dma_map, sizeof(struct vfu_dma_map), 0, 1 },
	[VFU_DMA_UNMAP] = { do_dma_unmap, sizeof(struct vfu_dma_unmap) },
	[VFU_DEVICE_GET_INFO] = { do_info, 16 },
	[VFU_GET_REGION_INFO] = { do_region_info,
				  sizeof(struct vfio_region_info) },
	[VFU_GET_IRQ_INFO] = { do_irq_info, sizeof(struct vfio_irq_info) },
	[VFU_SET_IRQS] = { do_set_irqs, sizeof(struct vfio_irq_set),
			   VFU_MAX_OTHER, VFU_MAX_FDS },
	[VFU_REGION_READ] = { do_region_read, sizeof(struct vfu_region) },
	[VFU_REGION_WRITE] = { do_region_write, sizeof(struct vfu_region),
			       VFU_MAX_MSG },
	[VFU_DEVICE_RESET] = { do_reset },
	[VFU_WRITE_MULTI] = { do_write_multi, sizeof(u64), VFU_MAX_OTHER },
};

static int handle(struct card *c, struct vfu_msg *m, u8 *out)
{
	const struct command *cmd = &commands[0];

	if (m->hdr.command < sizeof(commands) / sizeof(commands[0]))
		cmd = &commands[m->hdr.command];
	if (!c->negotiated && m->hdr.command != VFU_VERSION)
		return -EPROTO;
	if (m->hdr.flags & VFU_TYPE)
		return -EINVAL;
	if (!cmd->fn)
		return -EOPNOTSUPP;
	if (m->len < cmd->min || m->len > (cmd->max ? cmd->max : cmd->min) ||
	    m->num_fds > cmd->fds || m->more_fds)
		return -EINVAL;
	return cmd->fn(c, m, out);
}

/** proto_size_ok() - check the length that a message's header gives */
bool proto_size_ok(struct card *c, const struct vfu_hdr *hdr)
{
	if (hdr->size >= sizeof(*hdr) && hdr->size <= VFU_MAX_MSG)
		return true;
	card_say(c, "the client sent a message of %u bytes, allowed are %zu to %u",
		 hdr->size, sizeof(*hdr), VFU_MAX_MSG);
	return false;
}

/**
 * proto_handle() - act on a message
 * @c: card
 * @m: message; descriptors that the card keeps become -1
 * @r: out: reply
 *
 * Return: 0; -errno: send the reply, then close the connection.
 */
int proto_handle(struct card *c, struct vfu_msg *m, struct vfu_reply *r)
{
	struct vfu_hdr hdr = m->hdr;
	int ret = handle(c, m, r->bytes + sizeof(hdr));

	hdr.flags = VFU_REPLY;
	hdr.error = 0;
	hdr.size = sizeof(hdr);
	if (ret >= 0) {
		hdr.size += (u32)ret;
	} else {
		hdr.flags |= VFU_ERROR;
		hdr.error = (u32)-ret;
	}
	memcpy(r->bytes, &hdr, sizeof(hdr));
	r->len = m->hdr.flags & VFU_NO_REPLY ? 0 : hdr.size;
	irq_deliver(c);
	return c->negotiated ? 0 : -EPROTO;
}
