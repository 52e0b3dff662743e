/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: queues and message areas in host memory.
 */
#ifndef ANG_AREA_H
#define ANG_AREA_H

#include "ang_model.h"

/**
 * struct ang_pages - a list of pages in host memory, with its last look-up
 * @list: DMA address of the list
 * @index: page looked up, plus 1
 * @addr: its DMA address
 */
struct ang_pages {
	u64 list;
	u32 index;
	u64 addr;
};

#define ANG_PARTS	4	/* messages of several trains that can arrive at the same time */
#define ANG_MSG_PLACES	(ANG_PARTS + 2)	/* see ang_msg_lost() */
#define ANG_WAIT_GROUPS	4096U	/* of nodes, that a receiver tells apart */

/**
 * struct ang_part - a message of which not all trains have come
 * @used: it is one
 * @place: its record in the area
 * @node: sender, as all down to @gen
 * @ctx: its context
 * @slot: operation
 * @gen: generation of that
 * @length: bytes
 * @got: bytes written
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
 * struct ang_area - a context's message area; see ang_msg.c
 * @units: ANGARA_MSG_UNITs in it, 0 for none
 * @pi: producer index
 * @ci: consumer index as last read
 * @turn: node whose turn it is among those that wait, plus 1; 0 for none
 * @turn_end: last node of its group, plus 1
 * @need: units that it needs, as far as is known
 * @ready_out: node whose answer to a READY has not come, plus 1; 0 for none
 * @due: whose turn it is gets a READY when there is room
 * @told: ANGARA_CTR_MSG_WAIT is 1
 * @pages: its pages
 * @part: messages that have not arrived whole
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
	u8 told;
	struct ang_pages pages;
	struct ang_part part[ANG_PARTS];
};

#endif /* ANG_AREA_H */
