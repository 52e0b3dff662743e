// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoints of trace.h. */
#include <linux/module.h>

#include "ang_file.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(angara_packet);
