/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Times and rates of the hardware: expected times of plans are computed with
 * these parameters, and they are the defaults of the simulator.
 *
 * "Given" parameters are stated in the adapter's specification (document 000).
 * "Fitted" ones are set to reproduce a published number, "chosen" ones with
 * knowledge of published numbers; "free" ones are none of these.  The basis is
 * the section of the document, the published number, or the reason for the
 * choice; the range of a chosen or free parameter contains its plausible values.
 * tools/sim/origin.c has the parameters that only the simulator has.
 *
 * V(symbol, name, value, unit, source, description, basis, range)
 */
#ifndef ANG_TOPO_VALUES_H
#define ANG_TOPO_VALUES_H

#define ANG_VALUES(V)							\
	V(CLOCK, "clock", 500, "MHz", "given",				\
	  "clock of the routers",					\
	  "table 1: clock of the router, 500 MHz", NULL)		\
	V(LINK_RATE, "link-rate", 75, "Gbit/s", "given",		\
	  "bandwidth of a link",					\
	  "table 1: bandwidth of a channel, 75 Gbit/s", NULL)		\
	V(LINK, "link-latency", 80, "ns", "given",			\
	  "latency of a link",						\
	  "table 1: delay of a transfer over a link, 80 ns", NULL)	\
	V(INJECT, "inject", 300, "ns", "given",				\
	  "latency of injection",					\
	  "table 1: injection of a packet through PCIe, 300 ns", NULL)	\
	V(EJECT, "eject", 300, "ns", "given",				\
	  "latency of ejection",					\
	  "table 1: ejection of a packet through PCIe, 300 ns", NULL)	\
	V(PACKET, "packet", 256, "B", "given",				\
	  "payload of a packet",					\
	  "section 4.1: the greatest packet has 16 flits, 256 bytes; a head flit is added", NULL) \
	V(CREDIT_RESULTS, "credit-results", 128, "results", "given",	\
	  "results after which the PE gets a credit packet",		\
	  "section 3.4: the PE gets credits every 128 results of all trees", NULL) \
	V(CREDIT_CYCLES, "credit-cycles", 4096, "cycles", "given",	\
	  "cycles after which it gets one in any case",			\
	  "section 3.4: or the PE gets credits every 4096 cycles", NULL) \
	V(ROUTER, "router", 2, "cycles", "chosen",			\
	  "cycles through a router",					\
	  "section 3.1: a table is read, outputs are listed; no time is named", "1..4") \
	V(PEGROUP, "pegroup", 10, "cycles", "fitted",			\
	  "cycles through the PEGroup FIFO",				\
	  "broadcast on 2x2x2: fewest cycles that give 2.39", NULL)	\
	V(HOST_RATE, "host-rate", 64, "Gbit/s", "given",		\
	  "bandwidth of PCIe, each way (gen2 x16)",			\
	  "table 1: PCIe gen2 x16; 16 lanes, 5 GT/s, 8b/10b code", NULL) \
	V(HOST_HEADER, "host-header", 24, "B", "chosen",		\
	  "overhead of PCIe per packet: headers, numbers, checks",	\
	  "PCIe: frame 2, number 2, head 12 or 16, checks 4 or 8", "20..28") \
	V(REDUCER, "reducer", 4, "cycles", "free",			\
	  "cycles of the Reducer in addition to one per flit",		\
	  "section 3.3: its memory is read and written; no time is named", "0..8") \
	V(SWITCH, "switch", 2, "cycles", "free",			\
	  "cycles through a switch, as a router",			\
	  "as a router; document 000 has no switches", NULL)		\
	V(SWITCH_LINK, "switch-latency", 80, "ns", "free",		\
	  "latency of a cable to a switch, as a link",			\
	  "as a link; document 000 has no switches", NULL)

#define ANG_VALUE(symbol, name, value, unit, source, help, basis, range) \
	ANG_VALUE_##symbol = (value),
enum { ANG_VALUES(ANG_VALUE) };
#undef ANG_VALUE

#endif /* ANG_TOPO_VALUES_H */
