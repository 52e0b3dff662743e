/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parameters of the hardware's times: expected times of plans are computed with
 * these, and the simulator has them as defaults.
 *
 * Given are those of document 000 (table 1 and section 2).  Fitted ones
 * reproduce its results; Documentation/simulator.rst compares.  Of switches no
 * source has values: they are assumed to be as routers.
 *
 * V(symbol, name, value, unit, source, description)
 */
#ifndef ANG_TOPO_VALUES_H
#define ANG_TOPO_VALUES_H

#define ANG_VALUES(V)							\
	V(CLOCK, "clock", 500, "MHz", "given",				\
	  "clock of the routers")					\
	V(LINK_RATE, "link-rate", 75, "Gbit/s", "given",		\
	  "bandwidth of a link")					\
	V(LINK, "link-latency", 80, "ns", "given",			\
	  "latency of a link")						\
	V(INJECT, "inject", 300, "ns", "given",				\
	  "latency of injection")					\
	V(EJECT, "eject", 300, "ns", "given",				\
	  "latency of ejection")					\
	V(PACKET, "packet", 256, "B", "given",				\
	  "payload of a packet")					\
	V(CREDIT_RESULTS, "credit-results", 128, "results", "given",	\
	  "results after which the PE gets a credit packet")		\
	V(CREDIT_CYCLES, "credit-cycles", 4096, "cycles", "given",	\
	  "cycles after which it gets one in any case")			\
	V(ROUTER, "router", 2, "cycles", "fitted",			\
	  "cycles through a router")					\
	V(PEGROUP, "pegroup", 10, "cycles", "fitted",			\
	  "cycles through the PEGroup FIFO")				\
	V(HOST_RATE, "host-rate", 64, "Gbit/s", "fitted",		\
	  "bandwidth of PCIe, each way (gen2 x16)")			\
	V(HOST_HEADER, "host-header", 24, "B", "fitted",		\
	  "overhead of PCIe per packet: headers, numbers, checks")	\
	V(REDUCER, "reducer", 4, "cycles", "assumed",			\
	  "cycles of the Reducer in addition to one per flit")		\
	V(SWITCH, "switch", 2, "cycles", "assumed",			\
	  "cycles through a switch, as a router")			\
	V(SWITCH_LINK, "switch-latency", 80, "ns", "assumed",		\
	  "latency of a cable to a switch, as a link")

#define ANG_VALUE(symbol, name, value, unit, source, help) \
	ANG_VALUE_##symbol = (value),
enum { ANG_VALUES(ANG_VALUE) };
#undef ANG_VALUE

#endif /* ANG_TOPO_VALUES_H */
