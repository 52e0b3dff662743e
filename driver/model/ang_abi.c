// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Assertions on the layout of structures that user, kernel and device exchange.
 * These layouts never change.
 */
#include "ang_types.h"

#define SIZE(type, size) \
	static_assert(sizeof(struct type) == (size))
#define AT(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset))

SIZE(angara_query, 72);
AT(angara_query, size, 0);
AT(angara_query, flags, 4);
AT(angara_query, abi, 8);
AT(angara_query, node, 12);
AT(angara_query, nodes, 16);
AT(angara_query, ports, 20);
AT(angara_query, fabric_id, 24);
AT(angara_query, max_contexts, 32);
AT(angara_query, max_sq_entries, 36);
AT(angara_query, max_cq_entries, 40);
AT(angara_query, max_mrs, 44);
AT(angara_query, max_op_bytes, 48);
AT(angara_query, pkey, 56);
AT(angara_query, caps, 60);
AT(angara_query, max_msg_bytes, 64);
AT(angara_query, max_trees, 68);

SIZE(angara_domain_create, 40);
AT(angara_domain_create, size, 0);
AT(angara_domain_create, flags, 4);
AT(angara_domain_create, pkey, 8);
AT(angara_domain_create, reserved, 12);
AT(angara_domain_create, job, 16);
AT(angara_domain_create, watch_offset, 24);
AT(angara_domain_create, watch_bytes, 32);

SIZE(angara_ctx_create, 80);
AT(angara_ctx_create, size, 0);
AT(angara_ctx_create, flags, 4);
AT(angara_ctx_create, sq_entries, 8);
AT(angara_ctx_create, cq_entries, 12);
AT(angara_ctx_create, fd, 16);
AT(angara_ctx_create, ctx, 20);
AT(angara_ctx_create, sq_offset, 24);
AT(angara_ctx_create, cq_offset, 32);
AT(angara_ctx_create, ctl_offset, 40);
AT(angara_ctx_create, ctr_offset, 48);
AT(angara_ctx_create, db_offset, 56);
AT(angara_ctx_create, msg_bytes, 64);
AT(angara_ctx_create, reserved, 68);
AT(angara_ctx_create, msg_offset, 72);

SIZE(angara_mr_register, 40);
AT(angara_mr_register, size, 0);
AT(angara_mr_register, flags, 4);
AT(angara_mr_register, addr, 8);
AT(angara_mr_register, length, 16);
AT(angara_mr_register, access, 24);
AT(angara_mr_register, reserved, 28);
AT(angara_mr_register, key, 32);

SIZE(angara_watch, 64);
AT(angara_watch, seq, 0);

SIZE(angara_mr_deregister, 16);
AT(angara_mr_deregister, size, 0);
AT(angara_mr_deregister, flags, 4);
AT(angara_mr_deregister, key, 8);

SIZE(angara_tree_row, 24);
AT(angara_tree_row, tree, 0);
AT(angara_tree_row, is_root, 1);
AT(angara_tree_row, to_root, 2);
AT(angara_tree_row, port_sum, 3);
AT(angara_tree_row, pe, 4);
AT(angara_tree_row, epoch, 6);
AT(angara_tree_row, ports, 8);
AT(angara_tree_row, pkey, 16);
AT(angara_tree_row, reserved, 20);

SIZE(angara_tree_set, 40);
AT(angara_tree_set, size, 0);
AT(angara_tree_set, flags, 4);
AT(angara_tree_set, row, 8);
AT(angara_tree_set, router, 32);
AT(angara_tree_set, reserved, 36);

SIZE(angara_tree_get, 56);
AT(angara_tree_get, size, 0);
AT(angara_tree_get, flags, 4);
AT(angara_tree_get, row, 8);
AT(angara_tree_get, state, 32);
AT(angara_tree_get, members, 36);
AT(angara_tree_get, down_node, 40);
AT(angara_tree_get, delegated, 44);
AT(angara_tree_get, router, 48);
AT(angara_tree_get, reserved, 52);

SIZE(angara_tree_clear, 16);
AT(angara_tree_clear, size, 0);
AT(angara_tree_clear, flags, 4);
AT(angara_tree_clear, tree, 8);
AT(angara_tree_clear, router, 12);

SIZE(angara_tree_delegate, 16);
AT(angara_tree_delegate, size, 0);
AT(angara_tree_delegate, flags, 4);
AT(angara_tree_delegate, tree, 8);
AT(angara_tree_delegate, pkey, 12);

SIZE(angara_tree_verify, 24);
AT(angara_tree_verify, size, 0);
AT(angara_tree_verify, flags, 4);
AT(angara_tree_verify, tree, 8);
AT(angara_tree_verify, rule, 12);
AT(angara_tree_verify, node, 16);
AT(angara_tree_verify, nodes, 20);

SIZE(angara_join, 16);
AT(angara_join, size, 0);
AT(angara_join, flags, 4);
AT(angara_join, tree, 8);
AT(angara_join, place, 12);

SIZE(angara_kick, 8);
AT(angara_kick, size, 0);
AT(angara_kick, flags, 4);

SIZE(angara_eventfd, 16);
AT(angara_eventfd, size, 0);
AT(angara_eventfd, flags, 4);
AT(angara_eventfd, fd, 8);
AT(angara_eventfd, reserved, 12);

SIZE(angara_ctl, 16);
AT(angara_ctl, sq_pi, 0);
AT(angara_ctl, cq_ci, 4);
AT(angara_ctl, seen, 8);
AT(angara_ctl, msg_ci, 12);

SIZE(angara_wqe, 64);
AT(angara_wqe, opcode, 0);
AT(angara_wqe, flags, 1);
AT(angara_wqe, redop, 2);
AT(angara_wqe, type, 3);
AT(angara_wqe, tree, 4);
AT(angara_wqe, counter, 4);
AT(angara_wqe, code, 4);
AT(angara_wqe, dst_ctx, 6);
AT(angara_wqe, dst_node, 8);
AT(angara_wqe, length, 12);
AT(angara_wqe, cookie, 16);
AT(angara_wqe, rkey, 24);
AT(angara_wqe, roff, 32);
AT(angara_wqe, lkey, 40);
AT(angara_wqe, aux_key, 44);
AT(angara_wqe, loff, 48);
AT(angara_wqe, aux, 56);

SIZE(angara_msg, 64);
AT(angara_msg, tag, 0);
AT(angara_msg, imm, 8);
AT(angara_msg, node, 16);
AT(angara_msg, ctx, 20);
AT(angara_msg, code, 22);
AT(angara_msg, reserved, 24);
AT(angara_msg, length, 56);
AT(angara_msg, reserved1, 60);
AT(angara_msg, kind, 63);

SIZE(angara_cqe, 32);
AT(angara_cqe, cookie, 0);
AT(angara_cqe, length, 8);
AT(angara_cqe, node, 12);
AT(angara_cqe, reserved, 16);
AT(angara_cqe, status, 24);
AT(angara_cqe, opcode, 26);
AT(angara_cqe, reserved1, 27);
AT(angara_cqe, reserved2, 28);
AT(angara_cqe, phase, 31);

SIZE(angara_adm_domain, 24);
AT(angara_adm_domain, job, 0);
AT(angara_adm_domain, mrt, 8);
AT(angara_adm_domain, mrs, 16);
AT(angara_adm_domain, pkey, 20);

SIZE(angara_adm_ctx, 40);
AT(angara_adm_ctx, dom, 0);
AT(angara_adm_ctx, sq_log2, 2);
AT(angara_adm_ctx, cq_log2, 3);
AT(angara_adm_ctx, reserved, 4);
AT(angara_adm_ctx, sq, 8);
AT(angara_adm_ctx, cq, 16);
AT(angara_adm_ctx, ctl, 24);
AT(angara_adm_ctx, ctr, 32);

SIZE(angara_adm_text, 16);
AT(angara_adm_text, offset, 0);
AT(angara_adm_text, length, 4);
AT(angara_adm_text, addr, 8);

SIZE(angara_adm_msg, 16);
AT(angara_adm_msg, pages, 0);
AT(angara_adm_msg, log2, 8);
AT(angara_adm_msg, reserved, 9);

SIZE(angara_hw_row, 24);
AT(angara_hw_row, tree, 0);
AT(angara_hw_row, is_root, 1);
AT(angara_hw_row, to_root, 2);
AT(angara_hw_row, port_sum, 3);
AT(angara_hw_row, pe, 4);
AT(angara_hw_row, epoch, 6);
AT(angara_hw_row, ports, 8);
AT(angara_hw_row, pkey, 16);
AT(angara_hw_row, state, 20);
AT(angara_hw_row, members, 21);
AT(angara_hw_row, life, 22);

SIZE(angara_adm_row, 40);
AT(angara_adm_row, row, 0);
AT(angara_adm_row, job, 24);
AT(angara_adm_row, router, 32);
AT(angara_adm_row, reserved, 36);

SIZE(angara_adm_counters, 24);
AT(angara_adm_counters, kind, 0);
AT(angara_adm_counters, index, 4);
AT(angara_adm_counters, addr, 8);
AT(angara_adm_counters, length, 16);
AT(angara_adm_counters, router, 20);

SIZE(angara_adm_cmd, 64);
AT(angara_adm_cmd, opcode, 0);
AT(angara_adm_cmd, reserved, 1);
AT(angara_adm_cmd, tag, 2);
AT(angara_adm_cmd, ctx, 4);
AT(angara_adm_cmd, tree, 6);
AT(angara_adm_cmd, place, 7);
AT(angara_adm_cmd, create, 8);
AT(angara_adm_cmd, domain, 8);
AT(angara_adm_cmd, set, 8);
AT(angara_adm_cmd, counters, 8);
AT(angara_adm_cmd, msg, 8);
AT(angara_adm_cmd, text, 8);
AT(angara_adm_cmd, raw, 8);

SIZE(angara_adm_cpl, 32);
AT(angara_adm_cpl, row, 0);
AT(angara_adm_cpl, value, 24);
AT(angara_adm_cpl, tag, 28);
AT(angara_adm_cpl, status, 30);
AT(angara_adm_cpl, phase, 31);

SIZE(angara_hw_event, 16);
AT(angara_hw_event, index, 0);
AT(angara_hw_event, value, 4);
AT(angara_hw_event, type, 8);
AT(angara_hw_event, lost, 9);
AT(angara_hw_event, reserved, 10);
AT(angara_hw_event, phase, 15);

SIZE(angara_hw_mr, 32);
AT(angara_hw_mr, addr, 0);
AT(angara_hw_mr, length, 8);
AT(angara_hw_mr, first, 16);
AT(angara_hw_mr, access, 20);
AT(angara_hw_mr, levels, 21);
AT(angara_hw_mr, valid, 22);
AT(angara_hw_mr, page_shift, 23);
AT(angara_hw_mr, key, 24);

SIZE(angara_hw_node_counters, 128);
AT(angara_hw_node_counters, drops, 0);
AT(angara_hw_node_counters, injected_packets, 64);
AT(angara_hw_node_counters, ejected_packets, 72);
AT(angara_hw_node_counters, injected_flits, 80);
AT(angara_hw_node_counters, ejected_flits, 88);
AT(angara_hw_node_counters, hops, 96);
AT(angara_hw_node_counters, no_buffer, 104);
AT(angara_hw_node_counters, cycles, 112);
AT(angara_hw_node_counters, reserved, 120);

SIZE(angara_hw_link_counters, 144);
AT(angara_hw_link_counters, packets, 0);
AT(angara_hw_link_counters, flits, 32);
AT(angara_hw_link_counters, stalls, 64);
AT(angara_hw_link_counters, lost, 96);
AT(angara_hw_link_counters, corrupt, 104);
AT(angara_hw_link_counters, retransmitted, 112);
AT(angara_hw_link_counters, timeouts, 120);
AT(angara_hw_link_counters, fault_loss, 128);
AT(angara_hw_link_counters, fault_corrupt, 132);
AT(angara_hw_link_counters, fault_delay, 136);
AT(angara_hw_link_counters, down, 140);

SIZE(angara_hw_tree_counters, 96);
AT(angara_hw_tree_counters, bcast_requests, 0);
AT(angara_hw_tree_counters, bcast_packets, 8);
AT(angara_hw_tree_counters, reduce_packets, 16);
AT(angara_hw_tree_counters, reduce_results, 24);
AT(angara_hw_tree_counters, credits_sent, 32);
AT(angara_hw_tree_counters, credits_received, 40);
AT(angara_hw_tree_counters, credits_pe_count, 48);
AT(angara_hw_tree_counters, credits_pe_timer, 56);
AT(angara_hw_tree_counters, up_credits, 64);
AT(angara_hw_tree_counters, in_flight, 72);
AT(angara_hw_tree_counters, max_in_flight, 80);
AT(angara_hw_tree_counters, reserved, 88);

SIZE(angara_hw_ctx_counters, 96);
AT(angara_hw_ctx_counters, wqes, 0);
AT(angara_hw_ctx_counters, cqes, 8);
AT(angara_hw_ctx_counters, cqe_errors, 16);
AT(angara_hw_ctx_counters, tx_packets, 24);
AT(angara_hw_ctx_counters, tx_bytes, 32);
AT(angara_hw_ctx_counters, rx_packets, 40);
AT(angara_hw_ctx_counters, rx_bytes, 48);
AT(angara_hw_ctx_counters, rx_errors, 56);
AT(angara_hw_ctx_counters, cq_full, 64);
AT(angara_hw_ctx_counters, interrupts, 72);
AT(angara_hw_ctx_counters, rx_msgs, 80);
AT(angara_hw_ctx_counters, not_ready, 88);

SIZE(angara_mgmt, 200);
AT(angara_mgmt, method, 0);
AT(angara_mgmt, attr, 1);
AT(angara_mgmt, status, 2);
AT(angara_mgmt, answer, 3);
AT(angara_mgmt, hops, 4);
AT(angara_mgmt, at, 5);
AT(angara_mgmt, reserved, 6);
AT(angara_mgmt, modifier, 8);
AT(angara_mgmt, router, 12);
AT(angara_mgmt, tid, 16);
AT(angara_mgmt, key, 24);
AT(angara_mgmt, writes, 32);
AT(angara_mgmt, path, 40);
AT(angara_mgmt, data, 104);

SIZE(angara_mgmt_node, 80);
AT(angara_mgmt_node, router, 0);
AT(angara_mgmt_node, nodes, 4);
AT(angara_mgmt_node, routers, 8);
AT(angara_mgmt_node, flags, 12);
AT(angara_mgmt_node, fabric_id, 16);
AT(angara_mgmt_node, joined, 24);
AT(angara_mgmt_node, down, 32);
AT(angara_mgmt_node, faulty, 40);
AT(angara_mgmt_node, taken, 48);
AT(angara_mgmt_node, dropped, 56);
AT(angara_mgmt_node, refused, 64);
AT(angara_mgmt_node, trees, 72);
AT(angara_mgmt_node, ports, 73);
AT(angara_mgmt_node, port, 74);
AT(angara_mgmt_node, reserved, 75);

SIZE(angara_mgmt_port, 72);
AT(angara_mgmt_port, state, 0);
AT(angara_mgmt_port, loss, 4);
AT(angara_mgmt_port, corrupt, 8);
AT(angara_mgmt_port, delay, 12);
AT(angara_mgmt_port, packets, 16);
AT(angara_mgmt_port, flits, 24);
AT(angara_mgmt_port, stalls, 32);
AT(angara_mgmt_port, lost, 40);
AT(angara_mgmt_port, corrupted, 48);
AT(angara_mgmt_port, retransmitted, 56);
AT(angara_mgmt_port, timeouts, 64);

SIZE(angara_mgmt_row, 32);
AT(angara_mgmt_row, ports, 0);
AT(angara_mgmt_row, pkey, 8);
AT(angara_mgmt_row, down_node, 12);
AT(angara_mgmt_row, pe, 16);
AT(angara_mgmt_row, epoch, 18);
AT(angara_mgmt_row, is_root, 20);
AT(angara_mgmt_row, to_root, 21);
AT(angara_mgmt_row, port_sum, 22);
AT(angara_mgmt_row, state, 23);
AT(angara_mgmt_row, members, 24);
AT(angara_mgmt_row, reserved, 25);

SIZE(angara_mgmt_key, 16);
AT(angara_mgmt_key, key, 0);
AT(angara_mgmt_key, flags, 8);
AT(angara_mgmt_key, reserved, 12);

SIZE(angara_adm_mgmt, 16);
AT(angara_adm_mgmt, tid, 0);
AT(angara_adm_mgmt, addr, 8);

SIZE(angara_adm_route, 24);
AT(angara_adm_route, router, 0);
AT(angara_adm_route, length, 4);
AT(angara_adm_route, addr, 8);
AT(angara_adm_route, offset, 16);
AT(angara_adm_route, what, 20);
AT(angara_adm_route, reserved, 21);

SIZE(angara_manage, 216);
AT(angara_manage, size, 0);
AT(angara_manage, flags, 4);
AT(angara_manage, timeout_ms, 8);
AT(angara_manage, reserved, 12);
AT(angara_manage, pkt, 16);

static_assert(sizeof(struct ang_pkt) == 80);
static_assert(sizeof(struct ang_fabric) <= ANG_HEAD_SIZE);
