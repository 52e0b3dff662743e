/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collectives in all forms that the MPI library has; see forms.c. */
#ifndef FORMS_H
#define FORMS_H

#include "job.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name)	MPIX_##name##_init
#else
#define INIT(name)	MPI_##name##_init
#endif
#if MPI_VERSION >= 4 || !defined(OPEN_MPI) || OMPI_MAJOR_VERSION >= 5 || \
	defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PERSISTENT	1
#endif

void forms_make(void);
void forms_free(void);
/* Executes a collective, or starts it. */
void start(struct job *j);

#endif /* FORMS_H */
