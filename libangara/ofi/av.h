/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address vectors: a continuation of afi.h.
 */
#ifndef AFI_AV_H
#define AFI_AV_H

/**
 * struct afi_peer - an entry of an address vector
 * @name: address
 * @used: the entry is valid
 * @node: link among the valid entries, by address
 */
struct afi_peer {
	struct afi_name name;
	bool used;
	struct afi_node node;
};

/**
 * struct afi_av - an address vector; under the domain's lock
 * @fid: the program's handle
 * @domain: its domain
 * @refs: endpoints bound to it
 * @share: table of which this is a copy, or NULL
 * @eq: event queue in which insertions are reported, or NULL
 * @events: report insertions
 * @ctx_bits: number of upper bits of an address that identify a receive context
 * @peers: entries; an fi_addr_t is an index of this array
 * @size: room in @peers
 * @num: entries used so far, including removed ones
 * @spares: number of removed entries below @num; not used in a shared table
 * @low: if @spares: no removed entry is below this one
 * @map: addresses of all entries of a shared table, for the program
 * @found: valid entries, by address
 */
struct afi_av {
	struct fid_av fid;
	struct afi_domain *domain;
	u32 refs;
	struct afi_share *share;
	struct afi_eq *eq;
	bool events;
	u32 ctx_bits;
	struct afi_peer *peers;
	u32 size;
	u32 num;
	u32 spares;
	u32 low;
	fi_addr_t *map;
	struct afi_hash found;
};

/* av_ops.c */
int afi_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
		struct fid_av **av, void *context);

/* av.c */
int afi_av_grow(struct afi_av *av);
int afi_av_add(struct afi_av *av, const struct afi_name *name, fi_addr_t *addr);
struct afi_peer *afi_av_peer(struct afi_av *av, fi_addr_t addr);
void afi_av_drop(struct afi_av *av, struct afi_peer *peer);
void afi_av_sync(struct afi_av *av);
const struct afi_name *afi_av_get(struct afi_av *av, fi_addr_t addr);
fi_addr_t afi_av_entry(const struct afi_av *av, fi_addr_t addr);
int afi_av_target(struct afi_av *av, fi_addr_t addr, struct afi_name *name);
fi_addr_t afi_av_find(struct afi_av *av, const struct afi_name *name);

/* avshare.c */
int afi_share_open(const char *name, bool read_only, size_t size, u64 fabric_id,
		   struct afi_share **out);
void afi_share_close(struct afi_share *sh);
u32 afi_share_size(const struct afi_share *sh);
int afi_share_begin(struct afi_share *sh);
void afi_share_change(struct afi_share *sh);
void afi_share_end(struct afi_share *sh);
int afi_share_add(struct afi_share *sh, const struct afi_name *name,
		  fi_addr_t *addr);
void afi_share_remove(struct afi_share *sh, fi_addr_t addr);
int afi_share_news(struct afi_share *sh, u32 *seq);
bool afi_share_get(const struct afi_share *sh, u32 i, struct afi_name *name);
void afi_share_seen(struct afi_share *sh, u32 seq);

#endif /* AFI_AV_H */
