/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The device model: queues and receive buffers in host memory. */
#ifndef ANG_AREA_H
#define ANG_AREA_H

#include "ang_model.h"

/**
 * struct ang_pages - a list of pages in host memory, and the page looked up
 * last
 * @list: DMA address of the list
 * @index: index of the page looked up last, plus 1
 * @addr: DMA address of that page
 */
struct ang_pages {
	u64 list;
	u32 index;
	u64 addr;
};

#define ANG_PARTS	4	/* messages of several trains that can arrive at the same time */
#define ANG_MSG_PLACES	(ANG_PARTS + 2)	/* parts of a buffer that ang_msg_lost() checks */
#define ANG_WAIT_GROUPS	4096U	/* most groups of nodes that wait for room */

/**
 * struct ang_part - a message that has not arrived completely
 * @used: the entry is in use
 * @place: index of the message's record in the receive buffer
 * @node: sender
 * @ctx: context of the sender
 * @slot: slot of the sender's operation
 * @gen: generation of that operation
 * @length: bytes of the message
 * @got: bytes written so far
 */
struct ang_part {
	u32 used;
	u32 place;
	u32 node;
	u16 ctx;
	u16 slot;
	u16 gen;
	u32 length;
	u32 got;
};

/**
 * struct ang_area - a context's receive buffer; see ang_msg.c
 * @units: size in units of ANGARA_MSG_UNIT; 0: there is no buffer
 * @pi: producer index
 * @ci: consumer index as last read
 * @turn: waiting node that may send next, plus 1; 0 for none
 * @turn_end: last node of the group of @turn, plus 1
 * @need: units that the message of @turn needs; 1 if unknown
 * @ready_out: node that has not answered a READY yet, plus 1; 0 for none
 * @due: the node at @turn gets a READY when there is room
 * @known: the node at @turn is known to wait, see ang_msg.c
 * @notified: the process is notified: ANGARA_CTR_MSG_WAIT is 1
 * @pages: pages of the buffer
 * @part: messages that have not arrived completely
 */
struct ang_area {
	u32 units;
	u32 pi;
	u32 ci;
	u32 turn;
	u32 turn_end;
	u32 need;
	u32 ready_out;
	u8 due;
	u8 known;
	u8 notified;
	struct ang_pages pages;
	struct ang_part part[ANG_PARTS];
};

#endif /* ANG_AREA_H */
