/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef GONE_H
#define GONE_H

extern int device_gone;	/* the device of this process has disappeared; atomic */

#endif /* GONE_H */
