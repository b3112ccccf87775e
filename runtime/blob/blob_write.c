/* SPDX-License-Identifier: MIT */
/* Write the blob of a tree: rows, children and payloads in the order of numbers. */
#include "lib/brief_errors.h"

#include <tenon/backend/buffer.h>

#include "runtime/blob/blob_number.h"
#include "runtime/core/describer.h"
#include "runtime/payload/payload_module.h"

static int write_numbers(struct tenon_buffer *out, const uint64_t *numbers, uint64_t count)
{
	uint64_t i;

	tenon_buffer_u64(out, count);
	for (i = 0; i < count; i++)
		tenon_buffer_u64(out, numbers[i]);
	return out->status;
}

static int write_tree(const struct blob_numbers *n, struct tenon_buffer *out)
{
	write_numbers(out, n->rows, n->count + 1);
	return write_numbers(out, n->children, n->rows[n->count]);
}

/* Write a number into the eight bytes at @at, which the caller appended before it knew the number. */
static void set_u64(struct tenon_buffer *out, size_t at, uint64_t v)
{
	size_t i;

	for (i = 0; i < 8; i++)
		out->data[at + i] = (char)(v >> 8 * i);
}

static int write_payload(struct tenon_module *m, enum tenon_generation generation,
			 struct tenon_buffer *out)
{
	size_t start;
	int err;

	if (!(m->properties & TENON_MODULE_SERIALIZABLE) || !m->ops->save)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"a \"%.*s\" module cannot be saved, and is not compiled into the "
			"shared object",
			(int)m->kind.size, m->kind.data);
	err = payload_module_check_form(m, generation);
	if (err)
		return err;
	tenon_buffer_string(out, m->kind);
	if (generation == TENON_GENERATION_FFI)
		tenon_buffer_u64(out, 0);
	start = out->size;
	err = tenon_module_save(m, out);
	if (!err)
		err = out->status;
	if (!err && generation == TENON_GENERATION_FFI)
		set_u64(out, start - 8, out->size - start);
	return err;
}

static int write_modules(const struct blob_numbers *n, enum tenon_generation generation,
			 struct tenon_buffer *out)
{
	struct tenon_module *m;
	size_t i;
	int err = 0;

	for (i = 0; i < n->count && !err; i++) {
		m = n->modules[n->first[i]];
		if (i == n->library)
			err = tenon_buffer_string(out, tenon_slice_of("_lib"));
		else
			err = write_payload(m, generation, out);
		if (err)
			tenon_error_in(err, "module %zu of %zu (kind \"%.*s\")", i, n->count,
				       (int)m->kind.size, m->kind.data);
	}
	return err;
}

static int write_legacy(const struct blob_numbers *n, struct tenon_buffer *out)
{
	int err;

	/* A library without imports has no tree. */
	if (n->count == 1 && n->library == 0)
		return tenon_buffer_u64(out, 0);
	tenon_buffer_u64(out, n->count + 1);
	err = write_modules(n, TENON_GENERATION_LEGACY, out);
	if (!err)
		err = tenon_buffer_string(out, tenon_slice_of("_import_tree"));
	return err ? err : write_tree(n, out);
}

int blob_write(const struct blob_numbers *n, enum tenon_generation generation,
	       struct tenon_buffer *out)
{
	size_t start = out->size;
	int err;

	err = tenon_buffer_u64(out, 0);
	if (err)
		return err;
	if (generation == TENON_GENERATION_LEGACY) {
		err = write_legacy(n, out);
	} else {
		err = write_tree(n, out);
		if (!err)
			err = write_modules(n, generation, out);
	}
	if (!err)
		set_u64(out, start, out->size - start - 8);
	else
		out->size = start;
	return err;
}

int describe_blob(struct tenon_module *root, enum tenon_generation generation,
		  struct tenon_buffer *out)
{
	struct blob_numbers n = { 0 };
	int err;

	err = blob_number(&n, root);
	if (!err)
		err = blob_write(&n, generation, out);
	blob_numbers_fini(&n);
	return err;
}
