// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Buffers of the program as blocks of bytes.  Elements that have gaps, or whose
 * parts are not in the order of their addresses, are packed into a buffer by
 * MPI_Pack(), and unpacked at the end.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "ami.h"

#define PACK_BYTES	INT_MAX		/* limit of a call of MPI_Pack(): sizes are int */
#define BLOCK_BYTES	(1 << 20)	/* bytes of a piece of a longer element */

static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;

/** ami_count_of() - element of an array of counts */
MPI_Count ami_count_of(const void *counts, bool wide, u32 i)
{
	return wide ? ((const MPI_Count *)counts)[i] : ((const int *)counts)[i];
}

static ptrdiff_t data_displ(const struct ami_data *d, u32 i)
{
	return d->wide ? ((const MPI_Aint *)d->displs)[i] :
			 ((const int *)d->displs)[i];
}

static MPI_Count data_count(const struct ami_data *d, u32 i)
{
	return d->counts ? ami_count_of(d->counts, d->wide, d->first + i) :
			   d->count;
}

/** ami_block_len() - get the bytes of a block */
size_t ami_block_len(const struct ami_data *d, u32 i)
{
	return (size_t)data_count(d, i) * d->unit;
}

/** ami_block() - get the start of a block */
char *ami_block(const struct ami_data *d, u32 i)
{
	if (d->offs)
		return d->base + d->offs[d->first + i];
	if (d->displs)
		return d->base +
		       data_displ(d, d->first + i) * (ptrdiff_t)d->unit;
	return d->base + (d->first + i) * ami_block_len(d, i);
}

/** ami_longest_block() - get the bytes of the longest block */
size_t ami_longest_block(const struct ami_data *d)
{
	size_t longest = 0;
	u32 i;

	for (i = 0; i < d->num; i++)
		if (ami_block_len(d, i) > longest)
			longest = ami_block_len(d, i);
	return longest;
}

/* Computes where contiguous blocks begin.  Return: their bytes. */
static size_t data_place(struct ami_data *d)
{
	size_t at = 0;
	u32 i;

	for (i = 0; i < d->num; i++) {
		if (d->offs)
			d->offs[i] = (ptrdiff_t)at;
		at += ami_block_len(d, i);
	}
	return at;
}

/* A datatype of @len bytes, which matches any message.  Return: error of the MPI. */
static int long_type(size_t len, MPI_Datatype *type)
{
	int lens[2] = { (int)(len / BLOCK_BYTES), (int)(len % BLOCK_BYTES) };
	MPI_Aint places[2] = { 0, (MPI_Aint)(len - len % BLOCK_BYTES) };
	MPI_Datatype types[2] = { MPI_DATATYPE_NULL, MPI_PACKED };
	int ret = PMPI_Type_contiguous(BLOCK_BYTES, MPI_PACKED, &types[0]);

	if (ret)
		return ret;
	ret = PMPI_Type_create_struct(2, lens, places, types, type);
	PMPI_Type_free(&types[0]);
	return ret ? ret : PMPI_Type_commit(type);
}

/*
 * Copies an element that is too long for MPI_Pack(), by a message of this
 * process to itself.  Return: error of the MPI.
 */
static int pack_long(const struct ami_data *d, char *user, char *flat, bool out)
{
	MPI_Datatype bytes;
	int ret = long_type(d->unit, &bytes);

	if (ret)
		return ret;
	/*
	 * The lock is needed since messages of all threads have the same tag.
	 */
	pthread_mutex_lock(&data_lock);
	ret = PMPI_Sendrecv(out ? flat : user, 1, out ? bytes : d->type, 0,
			    AMI_TAG_LONG, out ? user : flat, 1,
			    out ? d->type : bytes, 0, AMI_TAG_LONG, ami.self,
			    MPI_STATUS_IGNORE);
	pthread_mutex_unlock(&data_lock);
	PMPI_Type_free(&bytes);
	return ret;
}

/* Moves @count elements between the program's memory and @flat. */
static int pack_some(const struct ami_data *d, char *user, MPI_Count count,
		     char *flat, bool out)
{
	MPI_Aint lb, extent;
	MPI_Count part, most = d->unit ? PACK_BYTES / (MPI_Count)d->unit : count;
	int ret = 0;

	PMPI_Type_get_extent(d->type, &lb, &extent);
	for (; count && !ret; count -= part) {
		int len, pos = 0;

		part = !most ? 1 : count < most ? count : most;
		len = (int)((size_t)part * d->unit);
		if (!most)
			ret = pack_long(d, user, flat, out);
		else if (out)
			ret = PMPI_Unpack(flat, len, &pos, user, (int)part,
					  d->type, MPI_COMM_SELF);
		else
			ret = PMPI_Pack(user, (int)part, d->type, flat, len,
					&pos, MPI_COMM_SELF);
		if (most && pos != len)
			ret = -EINVAL;
		user += part * extent;
		flat += (size_t)part * d->unit;
	}
	return ret ? -EINVAL : 0;
}

static int data_move(const struct ami_data *d, bool out)
{
	MPI_Aint lb, extent;
	int ret = 0;
	u32 i;

	PMPI_Type_get_extent(d->type, &lb, &extent);
	for (i = 0; i < d->num && !ret; i++) {
		MPI_Aint at = (d->displs ? data_displ(d, i) :
			       (MPI_Aint)(i * data_count(d, i))) * extent;

		ret = pack_some(d, d->user + at, data_count(d, i),
				ami_block(d, i), out);
	}
	return ret;
}

/**
 * ami_data_open() - prepare the bytes of a buffer
 * @d: buffer, with its description
 * @fill: pack the program's elements, since the operation reads them
 *
 * Return: 0; -ENOMEM; -EINVAL the MPI cannot pack the elements.
 */
int ami_data_open(struct ami_data *d, bool fill)
{
	bool flat = ami_type_flat(d->type);
	size_t len;

	d->base = d->user;
	if (d->counts && (!flat || !d->displs)) {
		d->offs = malloc(d->num * sizeof(*d->offs));
		if (!d->offs)
			return -ENOMEM;
	}
	len = data_place(d);
	if (flat)
		return 0;
	d->packed = malloc(len ? len : 1);
	if (!d->packed)
		return -ENOMEM;
	d->base = d->packed;
	/* The program may free its type before the operation has ended. */
	d->held = MPI_DATATYPE_NULL;
	if (PMPI_Type_dup(d->type, &d->held))
		return -ENOMEM;
	d->type = d->held;
	return fill ? data_move(d, false) : 0;
}

/** ami_data_unpack() - move received bytes to the program's buffer */
int ami_data_unpack(const struct ami_data *d)
{
	return d->packed ? data_move(d, true) : 0;
}

/** ami_data_close() - free what ami_data_open() has allocated */
void ami_data_close(struct ami_data *d)
{
	if (d->shares)
		return;
	if (d->packed && d->held != MPI_DATATYPE_NULL)
		PMPI_Type_free(&d->held);
	free(d->packed);
	free(d->offs);
}
