/* SPDX-License-Identifier: MIT */
/* Read the pool of constants of an executable. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/array.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/library_pages.h"
#include "runtime/core/dtype.h"
#include "runtime/relax/relax_executable.h"
#include "runtime/core/saved_tensor.h"
#include "runtime/model/storage.h"

/* kinds of constants, independent of the file version's numbering */
enum constant_kind {
	CONSTANT_TENSOR,
	CONSTANT_DTYPE,
	CONSTANT_SHAPE,
	CONSTANT_STRING,
	CONSTANT_INT,
	CONSTANT_FLOAT,
	CONSTANT_UNKNOWN,
};

/*
 * TVM 0.20 and older have their own numbers of kinds; later ones write type indices, and 0.21
 * differs.
 */
static enum constant_kind constant_kind(bool legacy, uint32_t tag)
{
	if (legacy)
		return tag < CONSTANT_UNKNOWN ? (enum constant_kind)tag : CONSTANT_UNKNOWN;
	switch (tag) {
	case TENON_TYPE_TENSOR:
	case 72: /* NDArray of 0.21 */
		return CONSTANT_TENSOR;
	case TENON_TYPE_SHAPE:
	case 71: /* Shape of 0.21 */
		return CONSTANT_SHAPE;
	case TENON_TYPE_STRING:
		return CONSTANT_STRING;
	case TENON_TYPE_INT:
		return CONSTANT_INT;
	case TENON_TYPE_FLOAT:
		return CONSTANT_FLOAT;
	case TENON_TYPE_DTYPE:
		return CONSTANT_DTYPE;
	default:
		return CONSTANT_UNKNOWN;
	}
}

/*
 * The copies of tensors share a block of memory, which has large pages: a page fault for each 4 KiB
 * takes longer than copying them. Each takes less of it than of the file, and the rest is never
 * touched.
 */
struct copies {
	struct tenon_object *keep; /* of the file's bytes */
	uint64_t left;		   /* tensors at most, this one too */
	struct storage *block;	   /* NULL until it is needed */
	size_t used;
	const char *from; /* constants; what is before the second address is not in memory */
	const char *given_back;
};

/* Give back all that was read: a fault in a large page brings in what was given back before. */
static void give_back(struct copies *copies, const char *end)
{
	if (copies->block)
		library_pages_give_back(copies->from, (size_t)(end - copies->from));
	copies->given_back = end;
}

static int copy_tensor(const struct tenon_cursor *c, const struct saved_tensor *saved,
		       struct copies *copies, struct tenon_tensor **out)
{
	const size_t most = saved->data.size + tenon_cursor_left(c);
	char *to;
	int err = 0;

	if (!copies->block)
		err = storage_create_lasting(most + copies->left * TENON_TENSOR_ALIGN,
					     &copies->block);
	if (err)
		return err;
	to = copies->block->data + copies->used;
	copies->used += (saved->data.size + TENON_TENSOR_ALIGN - 1) & -(size_t)TENON_TENSOR_ALIGN;
	return saved_tensor_copy(saved, to, &copies->block->object, out);
}

static int read_tensor(struct tenon_cursor *c, struct copies *copies, uint64_t *bytes,
		       struct tenon_value *out)
{
	struct saved_tensor saved;
	struct tenon_tensor *t;
	int err;

	err = saved_tensor_read(c, &saved);
	if (err)
		return err;
	if (saved_tensor_in_place(&saved, copies->keep))
		err = saved_tensor_make(&saved, copies->keep, &t);
	else
		err = copy_tensor(c, &saved, copies, &t);
	if (err)
		return err;
	*bytes += saved.data.size;
	*out = tenon_arg_object(t);
	return 0;
}

static int read_shape(struct tenon_cursor *c, struct tenon_value *out)
{
	struct tenon_shape *s;
	int64_t *extents;
	uint64_t n, i, v;
	int err;

	err = tenon_cursor_count(c, 8, &n);
	if (err)
		return err;
	extents = malloc((n ? n : 1) * sizeof(*extents));
	if (!extents)
		return tenon_error(-TENON_E_NOMEM, "no memory for a shape of %" PRIu64 " extents",
				   n);
	for (i = 0; i < n; i++) {
		/* The count was checked, so this read cannot fail. */
		tenon_cursor_u64(c, &v);
		extents[i] = (int64_t)v;
	}
	err = tenon_shape_create(extents, n, &s);
	free(extents);
	if (!err)
		*out = tenon_arg_object(s);
	return err;
}

static int read_string(struct tenon_cursor *c, struct tenon_value *out)
{
	struct tenon_slice text;
	int err = tenon_cursor_string(c, &text);

	return err ? err : tenon_string_value(text, out);
}

static int read_number(struct tenon_cursor *c, bool real, struct tenon_value *out)
{
	uint64_t v;
	int err = tenon_cursor_u64(c, &v);

	if (err)
		return err;
	*out = tenon_arg_int((int64_t)v);
	if (real)
		out->type = TENON_TYPE_FLOAT;
	return 0;
}

static int read_dtype(struct tenon_cursor *c, struct tenon_value *out)
{
	struct tenon_cursor at = *c;
	char name[TENON_DTYPE_NAME];
	DLDataType d;
	int err;

	err = tenon_cursor_u8(c, &d.code);
	if (!err)
		err = tenon_cursor_u8(c, &d.bits);
	if (!err)
		err = tenon_cursor_u16(c, &d.lanes);
	if (err)
		return err;
	if (!dtype_is_void(d) && !dtype_is_known(d))
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "the constant %s, a dtype that no tensor has",
					  tenon_dtype_name(d, name));
	*out = tenon_arg_dtype(d);
	return 0;
}

static int read_constant(struct relax_executable *x, struct tenon_cursor *c, struct copies *copies,
			 struct tenon_value *out)
{
	struct tenon_cursor at = *c;
	uint32_t tag;
	int err;

	err = tenon_cursor_u32(c, &tag);
	if (err)
		return err;
	switch (constant_kind(x->legacy, tag)) {
	case CONSTANT_TENSOR:
		return read_tensor(c, copies, &x->constant_bytes, out);
	case CONSTANT_DTYPE:
		return read_dtype(c, out);
	case CONSTANT_SHAPE:
		return read_shape(c, out);
	case CONSTANT_STRING:
		return read_string(c, out);
	case CONSTANT_INT:
		return read_number(c, false, out);
	case CONSTANT_FLOAT:
		return read_number(c, true, out);
	default:
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "%" PRIu32 " is no kind of constant of %s", tag,
					  x->legacy ? "TVM 0.20 and older (0 to 5)"
						    : "TVM 0.21 and later (1, 3, 5, 65, 69 to 72)");
	}
}

int relax_read_constants(struct relax_executable *x, struct tenon_cursor *c,
			 struct tenon_object *keep)
{
	struct copies copies = { keep, .from = (const char *)c->at,
				 .given_back = (const char *)c->at };
	uint64_t count;
	int err;

	/* The smallest constant has a tag and four bytes of dtype. */
	err = tenon_cursor_count(c, 8, &count);
	if (err)
		return tenon_error_in(err, "constants");
	if (count > INT32_MAX / 2)
		return tenon_cursor_error(c, -TENON_E_OVERFLOW, "%" PRIu64 " constants", count);
	x->constants = calloc(count ? count : 1, sizeof(*x->constants));
	if (!x->constants)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " constants", count);
	while (x->constant_count < count) {
		copies.left = count - x->constant_count;
		err = read_constant(x, c, &copies, &x->constants[x->constant_count]);
		if (err) {
			err = tenon_error_in(err, "constant %" PRIu32, x->constant_count);
			break;
		}
		x->constant_count++;
		if ((size_t)((const char *)c->at - copies.given_back) >= LIBRARY_PAGES_STEP)
			give_back(&copies, (const char *)c->at);
	}
	give_back(&copies, (const char *)c->at);
	/* the tensors keep it */
	if (copies.block)
		tenon_object_unref(&copies.block->object);
	return err;
}
