/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: rules of links that lose and corrupt packets, and of the
 * retransmission that hides these faults.  The model (ang_retry.c) and the
 * simulator both use these rules.
 *
 * The protocol is go-back-N.  Each packet has a sequence number, counted per
 * link modulo ANG_RETRY_SEQS, and a checksum.  The far end (the receiver) takes
 * packets only in order and acknowledges with the sequence number that it
 * expects next.  The near end (the sender) keeps packets until they are
 * acknowledged.  At most ANG_RETRY_WINDOW packets are in flight; the near end
 * sends all of them again if the far end reports a gap or no acknowledgement
 * arrives.
 */
#ifndef ANG_FAULT_H
#define ANG_FAULT_H

#include "ang_env.h"
#include "ang_hw.h"

#define ANG_RETRY_SEQS		1024U	/* sequence numbers, a power of two */
#define ANG_RETRY_WINDOW	64U	/* packets in flight */
#define ANG_RETRY_TRAINS	16U	/* trains kept, a power of two */
#define ANG_RETRY_TIMEOUT	1024U	/* cycles, plus the link's delay */
#define ANG_RETRY_TRIES		128U	/* rounds without progress that take the link down */

/**
 * struct ang_fault - what happens to packets and acknowledgements of a link
 * @loss: packets lost, of ANGARA_FAULT_ONE
 * @corrupt: packets with wrong bits, of ANGARA_FAULT_ONE
 * @delay: additional delay, in cycles
 */
struct ang_fault {
	u32 loss;
	u32 corrupt;
	u32 delay;
};

#define ANG_FATE_OK		0
#define ANG_FATE_LOST		1
#define ANG_FATE_CORRUPT	2

/*
 * ang_fault_draw() - draw the next number of a link's generator (splitmix64)
 */
static inline u64 ang_fault_draw(u64 *state)
{
	u64 x = *state += 0x9E3779B97F4A7C15ULL;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
	x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
	return x ^ x >> 31;
}

/*
 * ang_fault_fate() - draw what happens to the next packet or acknowledgement
 */
static inline u32 ang_fault_fate(const struct ang_fault *fault, u64 *state)
{
	u64 at = (ang_fault_draw(state) >> 32) * ANGARA_FAULT_ONE >> 32;

	if (at < fault->loss)
		return ANG_FATE_LOST;
	return at < (u64)fault->loss + fault->corrupt ? ANG_FATE_CORRUPT :
							ANG_FATE_OK;
}

/** ang_fault_none() - do these settings cause no faults at all? */
static inline bool ang_fault_none(const struct ang_fault *fault)
{
	return !fault->loss && !fault->corrupt && !fault->delay;
}

/** ang_seq_add() - sequence number that follows @seq by @by packets */
static inline u16 ang_seq_add(u16 seq, u32 by)
{
	return (u16)((seq + by) % ANG_RETRY_SEQS);
}

/**
 * ang_retry_acked() - count the packets that an acknowledgement frees
 * @base: oldest packet that is not acknowledged
 * @sent: packets sent from @base on
 * @ack: number that the far end expects next
 *
 * Return: number of packets; 0 if @ack acknowledges none of the packets sent.
 */
static inline u32 ang_retry_acked(u16 base, u32 sent, u16 ack)
{
	u32 many = (ack + ANG_RETRY_SEQS - base) % ANG_RETRY_SEQS;

	return many <= sent ? many : 0;
}

/**
 * struct ang_retry - both ends of the outgoing link of a port, for a link with
 * faults; see ang_retry.c
 * @fault: what happens to packets
 * @rng: state of the generator that selects the packets
 * @due: clock at which the packets in flight arrive
 * @tries: rounds in a row in which no packet was acknowledged
 * @held: number of packets that the link keeps, since they are not acknowledged
 * @fresh: number of these packets that were never sent
 * @base: sequence number of the oldest of these packets
 * @want: far end: sequence number that it expects next
 * @got: far end: packets taken of the train at @open
 * @acked: packets acknowledged of the train at @first
 * @first: place of the oldest train that is not acknowledged
 * @open: place of the train that the far end takes next
 * @end: place after the last train; places are free-running indices
 * @vc: per place, virtual channel of the train
 * @npkts: per place, number of packets of the train
 * @cnt: counters, as ANGARA_ADM_COUNTERS reads them
 */
struct ang_retry {
	struct ang_fault fault;
	u64 rng;
	u64 due;
	u32 tries;
	u32 held;
	u32 fresh;
	u16 base;
	u16 want;
	u8 got;
	u8 acked;
	u8 first;
	u8 open;
	u8 end;
	u8 vc[ANG_RETRY_TRAINS];
	u8 npkts[ANG_RETRY_TRAINS];
	struct {
		u64 lost, corrupt, retransmitted, timeouts;
	} cnt;
};

#endif /* ANG_FAULT_H */
