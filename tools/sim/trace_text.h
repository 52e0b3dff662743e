/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace records of the device model as lines of text.
 */
#ifndef ANG_TRACE_TEXT_H
#define ANG_TRACE_TEXT_H

#include <stdio.h>
#include "ang_model.h"

/** ang_trace_print() - print a record as one line, as in golden traces */
void ang_trace_print(FILE *to, const struct ang_trace *r);

/**
 * ang_trace_parse() - read a line
 * @line: from ang_trace_print(), or an angara_packet event of tracefs
 * @r: out
 *
 * Return: whether the line is a record.
 */
bool ang_trace_parse(const char *line, struct ang_trace *r);

/** ang_pkt_name() - "PUT", "BCAST", ... of an ANG_PKT_* */
const char *ang_pkt_name(u32 type);
const char *ang_vc_name(u32 vc);

#endif /* ANG_TRACE_TEXT_H */
