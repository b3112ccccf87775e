/* SPDX-License-Identifier: MIT */
/* Check the metadata of a library before a model uses it, and copy constants to their places. */
#include "runtime/aot/aot_metadata.h"

#include <inttypes.h>
#include <tenon/backend/cursor.h>

#include "lib/brief_errors.h"
#include "runtime/core/dtype.h"
#include "runtime/core/saved_tensor.h"

#define NDIM_MOST  64
#define COUNT_MOST 65536

static int check_tensor(const struct aot_tensor_info *t)
{
	uint64_t bytes = dtype_bytes(t->dtype);
	int64_t i;

	if (!t->name)
		return tenon_error(-TENON_E_FORMAT, "has no name");
	if (t->ndim < 0 || t->ndim > NDIM_MOST || (t->ndim && !t->shape))
		return tenon_error(-TENON_E_FORMAT,
				   "(\"%s\") has %" PRIi64 " dimensions, %d at most", t->name,
				   t->ndim, NDIM_MOST);
	if (dtype_check(t->dtype))
		return tenon_error_in(-TENON_E_VALUE, "(\"%s\")", t->name);
	for (i = 0; i < t->ndim; i++) {
		if (t->shape[i] < 0)
			return tenon_error(-TENON_E_FORMAT,
					   "(\"%s\") has extent %" PRIi64 " in dimension %" PRIi64,
					   t->name, t->shape[i], i);
		if (__builtin_mul_overflow(bytes, (uint64_t)t->shape[i], &bytes) ||
		    bytes > INT64_MAX / 2)
			return tenon_error(-TENON_E_OVERFLOW,
					   "(\"%s\") has a shape whose size does not fit", t->name);
	}
	return 0;
}

uint64_t aot_tensor_bytes(const struct aot_tensor_info *t)
{
	uint64_t bytes = dtype_bytes(t->dtype);
	int64_t i;

	for (i = 0; i < t->ndim; i++)
		bytes *= (uint64_t)t->shape[i];
	return bytes;
}

static int check_tensors(const char *what, const struct aot_tensor_info *list, int64_t count)
{
	int64_t i;
	int err = 0;

	if (count < 0 || count > COUNT_MOST || (count && !list))
		return tenon_error(-TENON_E_FORMAT, "%" PRIi64 " %ss, %d at most", count, what,
				   COUNT_MOST);
	for (i = 0; i < count && !err; i++) {
		err = check_tensor(&list[i]);
		if (err)
			tenon_error_in(err, "%s %" PRIi64, what, i);
	}
	return err;
}

static int read_constant(const struct aot_constant_info *c, struct saved_tensor *out)
{
	struct tenon_cursor cursor;

	if (!c->data || c->size < 0 || c->offset < 0)
		return tenon_error(-TENON_E_FORMAT, "has %" PRIi64 " bytes for offset %" PRIi64,
				   c->size, c->offset);
	cursor = tenon_cursor_of(c->data, (size_t)c->size, "constant", 0);
	return saved_tensor_read(&cursor, out);
}

static int check_constants(const struct aot_metadata *m, uint64_t *pool)
{
	struct saved_tensor saved;
	uint64_t end;
	int64_t i;
	int err;

	*pool = 0;
	if (m->constant_count < 0 || m->constant_count > COUNT_MOST ||
	    (m->constant_count && !m->constants))
		return tenon_error(-TENON_E_FORMAT, "%" PRIi64 " constants, %d at most",
				   m->constant_count, COUNT_MOST);
	for (i = 0; i < m->constant_count; i++) {
		err = read_constant(&m->constants[i], &saved);
		if (err)
			return tenon_error_in(err, "constant %" PRIi64, i);
		if (__builtin_add_overflow((uint64_t)m->constants[i].offset, saved.data.size,
					   &end) ||
		    end > INT64_MAX / 2)
			return tenon_error(-TENON_E_OVERFLOW,
					   "constant %" PRIi64 " at offset %" PRIi64, i,
					   m->constants[i].offset);
		if (end > *pool)
			*pool = end;
	}
	return 0;
}

int aot_metadata_check(const struct aot_metadata *m, uint64_t *constants)
{
	int err;

	if (m->version != 1)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the model describes itself in version %" PRIi64 ", known is 1",
				   m->version);
	if (!m->name || !*m->name)
		return tenon_error(-TENON_E_FORMAT, "the model has no name");
	err = check_tensors("input", m->inputs, m->input_count);
	if (!err)
		err = check_tensors("output", m->outputs, m->output_count);
	if (!err)
		err = check_tensors("workspace", m->workspaces, m->workspace_count);
	if (!err)
		err = check_constants(m, constants);
	return err;
}

void aot_metadata_fill(const struct aot_metadata *m, char *pool)
{
	struct saved_tensor saved;
	int64_t i;

	for (i = 0; i < m->constant_count; i++)
		if (!read_constant(&m->constants[i], &saved) && saved.data.size)
			memcpy(pool + m->constants[i].offset, saved.data.data, saved.data.size);
}
