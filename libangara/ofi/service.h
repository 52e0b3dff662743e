/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Services: endpoints that clients find by a host and a TCP port.
 */
#ifndef AFI_SERVICE_H
#define AFI_SERVICE_H

#include "afi.h"

struct afi_service;

/**
 * afi_service_source() - make a source address that requests a service
 * @node: name or IPv4 address of this host, or NULL for any of its addresses
 * @service: number or name of a TCP port, or NULL for none
 * @name: out; an endpoint that is created with it as src_addr listens at the
 *	port
 *
 * Return: 0; -FI_ENODATA @node or @service cannot be resolved.
 */
int afi_service_source(const char *node, const char *service,
		       struct afi_name *name);

/**
 * afi_service_host() - is this a host?
 * @node: name or IPv4 address
 *
 * Return: 0; -FI_ENODATA it cannot be resolved.
 */
int afi_service_host(const char *node);

/**
 * afi_service_ask() - query a service for the address of its endpoint
 * @node: name or IPv4 address of its host
 * @service: number or name of the TCP port
 * @name: out
 *
 * Waits for an answer for at most two seconds per address of the host.
 *
 * Return: 0; -FI_ENODATA no endpoint of the provider answers.
 */
int afi_service_ask(const char *node, const char *service,
		    struct afi_name *name);

/**
 * afi_service_start() - start to send the address of an endpoint to clients
 * @source: result of afi_service_source()
 * @name: address of the endpoint
 * @service: out; NULL if @source requests no service, or if another endpoint of
 *	the process already listens at this port: then clients get the address
 *	of that endpoint
 *
 * Return: 0; -FI_EADDRINUSE and other negative errors of bind(2); -FI_ENOMEM.
 */
int afi_service_start(const struct afi_name *source,
		      const struct afi_name *name,
		      struct afi_service **service);

/** afi_service_stop() - close the port; @service may be NULL */
void afi_service_stop(struct afi_service *service);

#endif /* AFI_SERVICE_H */
