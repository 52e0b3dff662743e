/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of the processes of a job: the address of a listening socket as
 * text, and connections to such an address.  IPv4 and IPv6.
 */
#ifndef ANG_JOB_NET_H
#define ANG_JOB_NET_H

#include "ang_env.h"

#define ANG_NET_NAME	64	/* bytes of an address with its port */

int ang_net_nonblocking(int fd);
int ang_net_listen(bool here, int *fd);
int ang_net_place(int fd, bool here, char *text, size_t size);
int ang_net_dial(const char *text, u32 which, int *fd);
int ang_net_dialled(int fd);
void ang_net_name(const char *text, u32 which, char name[ANG_NET_NAME]);
void ang_net_peer(int fd, char name[ANG_NET_NAME]);

#endif /* ANG_JOB_NET_H */
