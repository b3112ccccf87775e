/* SPDX-License-Identifier: MIT */
/* Write cases for self-tests, and put them into shared objects that are linked already. */
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/sha256.h"
#include "link/link_request.h"
#include "link/mlf/mlf.h"
#include "link/module/elf_section.h"
#include "runtime/self_test/cases_format.h"

/* bytes in front of what is hashed: size, version, hash */
#define HASHED (8 + 4 + SHA256_SIZE)

static int put_value(const struct tenon_param *v, bool as_hash, struct tenon_buffer *out)
{
	const DLTensor *t = &v->tensor;
	struct tenon_slice contents;
	uint8_t digest[SHA256_SIZE];
	size_t bytes;
	int32_t i;
	int err = tenon_tensor_bytes(t, &bytes);

	if (!err && (t->ndim > CASES_DIMENSIONS || t->device.device_type != kDLCPU ||
		     !tenon_tensor_compact(t) || (bytes && !t->data)))
		err = tenon_error(
			-TENON_E_VALUE,
			"value \"%.*s\" of a case is not compact in memory of the host, or "
			"has more than %d dimensions",
			(int)v->name.size, v->name.data, CASES_DIMENSIONS);
	if (err)
		return err;
	contents = (struct tenon_slice){ (const char *)t->data + t->byte_offset, bytes };
	if (as_hash) {
		sha256_bytes(contents.data, contents.size, digest);
		contents = (struct tenon_slice){ (const char *)digest, sizeof(digest) };
	}
	tenon_buffer_string(out, v->name);
	tenon_buffer_u8(out, t->dtype.code);
	tenon_buffer_u8(out, t->dtype.bits);
	tenon_buffer_u8(out, (uint8_t)t->dtype.lanes);
	tenon_buffer_u8(out, (uint8_t)(t->dtype.lanes >> 8));
	tenon_buffer_u32(out, as_hash ? CASES_HASH : CASES_DATA);
	tenon_buffer_u32(out, (uint32_t)t->ndim);
	for (i = 0; i < t->ndim; i++)
		tenon_buffer_u64(out, (uint64_t)t->shape[i]);
	return tenon_buffer_string(out, contents);
}

static int put_values(const struct tenon_param *list, size_t count, bool as_hash,
		      struct tenon_buffer *out)
{
	size_t i;
	int err;

	if (count > CASES_VALUES_MOST)
		return tenon_error(-TENON_E_USAGE, "%zu values in a case, at most %d", count,
				   CASES_VALUES_MOST);
	err = tenon_buffer_u64(out, count);
	for (i = 0; i < count && !err; i++)
		err = put_value(&list[i], as_hash, out);
	return err;
}

static void put_real(double real, struct tenon_buffer *out)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	tenon_buffer_u64(out, bits);
}

static int put_case(const struct tenon_link_case *c, struct tenon_buffer *out)
{
	int err;

	if (!c->name || !(c->rtol >= 0) || !(c->atol >= 0))
		return tenon_error(-TENON_E_USAGE,
				   "a case has a name, and a tolerance of 0 or more");
	tenon_buffer_string(out, tenon_slice_of(c->name));
	put_real(c->rtol, out);
	put_real(c->atol, out);
	tenon_buffer_u64(out, c->steps);
	err = put_values(c->inputs, c->input_count, false, out);
	if (!err)
		err = put_values(c->outputs, c->output_count, c->hash, out);
	return err ? tenon_error_in(err, "case %s", c->name) : 0;
}

int link_cases_write(const struct link_request *r, struct tenon_buffer *out)
{
	static const uint8_t none[HASHED];
	size_t i;
	int err;

	if (r->case_count > CASES_MOST)
		return tenon_error(-TENON_E_USAGE, "%zu cases, at most %d", r->case_count,
				   CASES_MOST);
	tenon_buffer_append(out, none, sizeof(none));
	err = tenon_buffer_u64(out, r->case_count);
	for (i = 0; i < r->case_count && !err; i++)
		err = put_case(&r->cases[i], out);
	if (err)
		return err;
	for (i = 0; i < 8; i++)
		out->data[i] = (char)((uint64_t)(out->size - 8) >> 8 * i);
	out->data[8] = CASES_VERSION;
	sha256_bytes(out->data + HASHED, out->size - HASHED, (uint8_t *)out->data + 12);
	return 0;
}

int link_cases_put(const struct link_request *r, const char *path, struct tenon_buffer *file)
{
	struct tenon_buffer cases = TENON_BUFFER_INIT, with = TENON_BUFFER_INIT;
	struct elf_file elf;
	int err;

	if (!r->case_count)
		return 0;
	err = elf_open(&elf, (struct tenon_slice){ file->data, file->size }, path);
	if (!err)
		err = link_cases_write(r, &cases);
	if (!err)
		err = elf_put_section(&elf, CASES_SECTION,
				      (struct tenon_slice){ cases.data, cases.size }, &with);
	tenon_buffer_fini(&cases);
	tenon_buffer_fini(err ? &with : file);
	if (!err)
		*file = with;
	return err;
}

int link_of_shared(const struct link_request *r)
{
	const char *path = r->inputs[0].path;
	struct tenon_buffer file = TENON_BUFFER_INIT;
	struct tenon_slice bytes;
	int err = file_map_open(path, &bytes);

	if (err)
		return err;
	err = tenon_buffer_slice(&file, bytes);
	file_map_close(&bytes);
	if (!err)
		err = link_cases_put(r, path, &file);
	bytes = (struct tenon_slice){ file.data, file.size };
	if (!err)
		err = file_write(r->output, &bytes, 1);
	tenon_buffer_fini(&file);
	return err;
}
