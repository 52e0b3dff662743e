// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Datatypes and operations of MPI, in terms of the adapter. */
#include "ami.h"

/** enum kind - how the adapter treats an element */
enum kind { SIGNED, UNSIGNED, REAL, COMPLEX, PAIR };

/*
 * Types that the adapter reduces. Other types pass through, for example 8 and
 * 16 bits, long double.
 */
static const struct {
	MPI_Datatype type;
	enum kind kind;
} types[] = {
	{ MPI_INT, SIGNED },
	{ MPI_LONG, SIGNED },
	{ MPI_LONG_LONG, SIGNED },
	{ MPI_UNSIGNED, UNSIGNED },
	{ MPI_UNSIGNED_LONG, UNSIGNED },
	{ MPI_UNSIGNED_LONG_LONG, UNSIGNED },
	{ MPI_INT32_T, SIGNED },
	{ MPI_INT64_T, SIGNED },
	{ MPI_UINT32_T, UNSIGNED },
	{ MPI_UINT64_T, UNSIGNED },
	{ MPI_AINT, SIGNED },
	{ MPI_OFFSET, SIGNED },
	{ MPI_COUNT, SIGNED },
	{ MPI_FLOAT, REAL },
	{ MPI_DOUBLE, REAL },
	{ MPI_C_FLOAT_COMPLEX, COMPLEX },
	{ MPI_C_DOUBLE_COMPLEX, COMPLEX },
	{ MPI_INTEGER, SIGNED },
	{ MPI_INTEGER4, SIGNED },
	{ MPI_INTEGER8, SIGNED },
	{ MPI_REAL, REAL },
	{ MPI_REAL4, REAL },
	{ MPI_REAL8, REAL },
	{ MPI_DOUBLE_PRECISION, REAL },
	{ MPI_COMPLEX, COMPLEX },
	{ MPI_DOUBLE_COMPLEX, COMPLEX },
};

/* Pairs with the layout of the adapter's pairs: value, then index. */
static const struct {
	MPI_Datatype type;
	u32 pair;
	u32 size;
} pairs[] = {
	{ MPI_2INT, ANGARA_TYPE_INT32_LOC, 8 },
	{ MPI_FLOAT_INT, ANGARA_TYPE_FLOAT_LOC, 8 },
	{ MPI_DOUBLE_INT, ANGARA_TYPE_DOUBLE_LOC, 16 },
	{ MPI_LONG_INT, ANGARA_TYPE_INT64_LOC, 16 },
	{ MPI_2INTEGER, ANGARA_TYPE_INT32_LOC, 8 },
};

/* Types of the adapter by kind, for 4 and 8 bytes. */
static const u32 adapter_types[][2] = {
	[SIGNED] = { ANGARA_TYPE_INT32, ANGARA_TYPE_INT64 },
	[UNSIGNED] = { ANGARA_TYPE_UINT32, ANGARA_TYPE_UINT64 },
	[REAL] = { ANGARA_TYPE_FLOAT, ANGARA_TYPE_DOUBLE },
	[COMPLEX] = { ANGARA_TYPE_FLOAT, ANGARA_TYPE_DOUBLE },
};

static const struct {
	MPI_Op op;
	struct ami_op is;
	bool whole;	/* integers only */
	bool pair;	/* pairs only */
} ops[] = {
	{ MPI_SUM, { ANGARA_RED_SUM, false }, false, false },
	{ MPI_PROD, { ANGARA_RED_PROD, false }, false, false },
	{ MPI_MIN, { ANGARA_RED_MIN, false }, false, false },
	{ MPI_MAX, { ANGARA_RED_MAX, false }, false, false },
	{ MPI_BAND, { ANGARA_RED_AND, false }, true, false },
	{ MPI_BOR, { ANGARA_RED_OR, false }, true, false },
	{ MPI_BXOR, { ANGARA_RED_XOR, false }, true, false },
	{ MPI_LAND, { ANGARA_RED_AND, true }, true, false },
	{ MPI_LOR, { ANGARA_RED_OR, true }, true, false },
	{ MPI_LXOR, { ANGARA_RED_XOR, true }, true, false },
	{ MPI_MINLOC, { ANGARA_RED_MINLOC, false }, false, true },
	{ MPI_MAXLOC, { ANGARA_RED_MAXLOC, false }, false, true },
};

#define OPS	(sizeof(ops) / sizeof(*ops))

static bool type_pair(MPI_Datatype type, struct ami_type *out)
{
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i].type == type) {
			*out = (struct ami_type){
				.type = pairs[i].pair, .size = pairs[i].size,
				.num = 1, .pair = true,
			};
			return true;
		}
	return false;
}

/**
 * ami_type_get() - does the adapter reduce elements of this datatype?
 * @type: datatype, not MPI_DATATYPE_NULL
 * @out: out: the adapter's type
 */
bool ami_type_get(MPI_Datatype type, struct ami_type *out)
{
	int size, num;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].type == type)
			break;
	if (i == sizeof(types) / sizeof(*types))
		return type_pair(type, out);
	PMPI_Type_size(type, &size);
	num = types[i].kind == COMPLEX ? 2 : 1;
	size /= num;
	if (size != 4 && size != 8)
		return false;
	*out = (struct ami_type){
		.type = adapter_types[types[i].kind][size == 8],
		.size = (u32)size, .num = (u32)num,
		.whole = types[i].kind == SIGNED || types[i].kind == UNSIGNED,
		.complex = types[i].kind == COMPLEX,
	};
	return true;
}

static size_t op_find(MPI_Op op)
{
	size_t i;

	for (i = 0; i < OPS; i++)
		if (ops[i].op == op)
			break;
	return i;
}

/**
 * ami_op_user() - is this an operation of the program, by MPI_Op_create()?
 * @op: operation of a reduction
 *
 * The adapter cannot execute the function of such an operation.  The helper
 * thread, which advances collectives while the program computes, must not: the
 * function may use the program's data and call the MPI, for instance
 * MPI_Type_get_extent().
 */
bool ami_op_user(MPI_Op op)
{
	return op_find(op) == OPS;
}

/**
 * ami_op_get() - does the adapter support this operation for a type?
 * @op: operation
 * @type: type
 * @out: out: the adapter's operation
 *
 * MPI has no order of complex numbers, and their product is not elementwise.
 */
bool ami_op_get(MPI_Op op, const struct ami_type *type, struct ami_op *out)
{
	size_t i = op_find(op);

	if (i == OPS || ops[i].pair != type->pair ||
	    (ops[i].whole && !type->whole) ||
	    (type->complex && op != MPI_SUM))
		return false;
	*out = ops[i].is;
	return true;
}

/**
 * ami_type_flat() - are the bytes of elements in order, without gaps?
 *
 * True for predefined datatypes only: a derived one can have another order even
 * if its size equals its extent.
 */
bool ami_type_flat(MPI_Datatype type)
{
	int ints, addresses, types_used, combiner, size;
	MPI_Aint lb, extent;

	PMPI_Type_get_envelope(type, &ints, &addresses, &types_used, &combiner);
	PMPI_Type_size(type, &size);
	PMPI_Type_get_extent(type, &lb, &extent);
	return combiner == MPI_COMBINER_NAMED && !lb && extent == size;
}
