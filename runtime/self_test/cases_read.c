/* SPDX-License-Identifier: MIT */
/* Read and check the cases in a file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/cursor.h>
#include <tenon/self_test.h>

#include "lib/brief_errors.h"
#include "lib/sha256.h"
#include "runtime/self_test/cases_format.h"
#include "runtime/self_test/self_test.h"

static int no_memory(uint64_t count, const char *what)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " %s", count, what);
}

/* ---- values */

static int read_shape(struct tenon_cursor *c, struct tenon_case_value *v)
{
	int64_t *shape;
	uint64_t extent;
	uint32_t ndim, i;
	int err;

	err = tenon_cursor_u32(c, &ndim);
	if (!err && ndim > CASES_DIMENSIONS)
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%" PRIu32 " dimensions, at most %d",
					 ndim, CASES_DIMENSIONS);
	if (err)
		return err;
	shape = calloc(ndim + 1, sizeof(*shape));
	if (!shape)
		return no_memory(ndim, "dimensions");
	v->shape = shape;
	v->ndim = (int32_t)ndim;
	for (i = 0; i < ndim && !err; i++) {
		err = tenon_cursor_u64(c, &extent);
		if (!err && extent > INT64_MAX)
			err = tenon_cursor_error(c, -TENON_E_FORMAT,
						 "an extent of %" PRIu64 " elements", extent);
		shape[i] = (int64_t)extent;
	}
	return err;
}

static int read_contents(struct tenon_cursor *c, uint32_t form, struct tenon_case_value *v)
{
	DLTensor t = tenon_dltensor(NULL, (int64_t *)(uintptr_t)v->shape, v->ndim, v->dtype);
	const struct tenon_cursor from = *c;
	struct tenon_slice bytes;
	size_t size;
	int err;

	err = tenon_cursor_string(c, &bytes);
	if (!err)
		err = tenon_tensor_bytes(&t, &size);
	if (err)
		return err;
	if (form == CASES_HASH)
		size = SHA256_SIZE;
	if (bytes.size != size)
		return tenon_cursor_error(&from, -TENON_E_FORMAT, "%zu bytes of contents, want %zu",
					  bytes.size, size);
	if (form == CASES_HASH)
		v->sha256 = (const uint8_t *)bytes.data;
	else
		v->data = bytes;
	return 0;
}

static int read_value(struct tenon_cursor *c, bool is_output, struct tenon_case_value *v)
{
	const struct tenon_cursor from = *c;
	uint32_t form = 0;
	int err;

	err = tenon_cursor_string(c, &v->name);
	if (!err)
		err = tenon_cursor_u8(c, &v->dtype.code);
	if (!err)
		err = tenon_cursor_u8(c, &v->dtype.bits);
	if (!err)
		err = tenon_cursor_u16(c, &v->dtype.lanes);
	if (!err)
		err = tenon_cursor_u32(c, &form);
	if (!err && form != CASES_DATA && !(is_output && form == CASES_HASH))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "contents of form %" PRIu32, form);
	if (!err)
		err = read_shape(c, v);
	return err ? err : read_contents(c, form, v);
}

static int read_values(struct tenon_cursor *c, bool are_outputs,
		       const struct tenon_case_value **list, size_t *count)
{
	struct tenon_case_value *values;
	uint64_t n;
	int err;

	err = tenon_cursor_count(c, CASES_VALUE_LEAST, &n);
	if (!err && n > CASES_VALUES_MOST)
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%" PRIu64 " values, at most %d", n,
					 CASES_VALUES_MOST);
	if (err)
		return err;
	values = calloc((size_t)n + 1, sizeof(*values));
	if (!values)
		return no_memory(n, "values");
	*list = values;
	while (*count < n && !err)
		err = read_value(c, are_outputs, &values[(*count)++]);
	return err;
}

/* ---- cases */

static int read_tolerance(struct tenon_cursor *c, struct tenon_case *item)
{
	uint64_t rtol, atol;
	int err;

	err = tenon_cursor_u64(c, &rtol);
	if (!err)
		err = tenon_cursor_u64(c, &atol);
	if (!err)
		err = tenon_cursor_u64(c, &item->steps);
	if (err)
		return err;
	memcpy(&item->rtol, &rtol, sizeof(rtol));
	memcpy(&item->atol, &atol, sizeof(atol));
	/* NaN is neither */
	if (item->rtol >= 0 && item->atol >= 0)
		return 0;
	return tenon_cursor_error(c, -TENON_E_FORMAT, "a tolerance that is no positive number");
}

static int read_case(struct tenon_cursor *c, struct tenon_case *item)
{
	int err;

	item->size = sizeof(*item);
	err = tenon_cursor_string(c, &item->name);
	if (!err)
		err = read_tolerance(c, item);
	if (!err)
		err = read_values(c, false, &item->inputs, &item->input_count);
	return err ? err : read_values(c, true, &item->outputs, &item->output_count);
}

static int read_cases(struct tenon_cases *cases, struct tenon_cursor *c)
{
	uint64_t count;
	int err;

	err = tenon_cursor_count(c, CASES_CASE_LEAST, &count);
	if (!err && (!count || count > CASES_MOST))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%" PRIu64 " cases, want 1 to %d",
					 count, CASES_MOST);
	if (err)
		return err;
	cases->items = calloc((size_t)count, sizeof(*cases->items));
	if (!cases->items)
		return no_memory(count, "cases");
	while (cases->count < count && !err) {
		err = read_case(c, &cases->items[cases->count++]);
		if (err)
			tenon_error_in(err, "case %zu", cases->count);
	}
	if (!err && tenon_cursor_left(c))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "%zu bytes left over",
					 tenon_cursor_left(c));
	return err;
}

/* Read up to the count, and compare the hash. */
static int open_record(struct tenon_slice section, uint64_t offset, struct tenon_cursor *c)
{
	struct tenon_slice record, hash;
	uint8_t found[SHA256_SIZE];
	uint32_t version;
	int err;

	*c = tenon_cursor_of(section.data, section.size, CASES_SECTION, offset);
	err = tenon_cursor_string(c, &record);
	if (err)
		return err;
	*c = tenon_cursor_of(record.data, record.size, CASES_SECTION, offset + 8);
	err = tenon_cursor_u32(c, &version);
	if (!err && version != CASES_VERSION)
		err = tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					 "version %" PRIu32 "; this release reads version %d",
					 version, CASES_VERSION);
	if (!err)
		err = tenon_cursor_bytes(c, SHA256_SIZE, &hash);
	if (err)
		return err;
	sha256_bytes(c->at, tenon_cursor_left(c), found);
	return memcmp(found, hash.data, sizeof(found))
		       ? tenon_cursor_error(c, -TENON_E_VALUE,
					    "the cases have another hash than was written with "
					    "them: the file is damaged")
		       : 0;
}

int cases_read(struct tenon_slice section, uint64_t offset, struct tenon_cases **out)
{
	struct tenon_cases *cases = calloc(1, sizeof(*cases));
	struct tenon_cursor c;
	int err;

	*out = NULL;
	if (!cases)
		return no_memory(1, "cases");
	err = open_record(section, offset, &c);
	if (!err)
		err = read_cases(cases, &c);
	if (err)
		tenon_cases_close(cases);
	else
		*out = cases;
	return err;
}
