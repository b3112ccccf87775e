/* SPDX-License-Identifier: MIT */
/*
 * Read what Vela writes with --output-format raw: a zip archive of numpy arrays, stored without
 * compression.
 */
#include <inttypes.h>
#include <string.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_container.h"
#include "lib/brief_errors.h"
#include "lib/npy_header.h"
#include "lib/stored_zip.h"

/* no network has as many tensors */
#define TENSORS_MOST 4096

/* single numbers */
enum { WEIGHT_REGION, SCRATCH_REGION, SCRATCH_SIZE, FAST_REGION, FAST_SIZE, SCALARS };

static const char *const scalar_names[SCALARS] = { "weight_region", "scratch_region",
						   "scratch_size", "scratch_fast_region",
						   "scratch_fast_size" };
static const char *const fields[ETHOSU_FIELDS] = { "shape", "elem_size", "region", "offset" };

struct reader {
	const char *name; /* of the file */
	struct ethosu_container *out;
	struct tenon_slice command_data;
	uint64_t command_data_at;
	bool has_weights;
	uint64_t scalars[SCALARS];
	bool has_scalar[SCALARS];
};

/* ---- entries that are needed */

static int read_array(struct tenon_cursor c, struct npy_header *out, struct tenon_slice *data)
{
	int err = npy_header_read(&c, out);

	*data = (struct tenon_slice){ (const char *)c.at, tenon_cursor_left(&c) };
	return err || !out->fortran ? err
				    : tenon_cursor_error(&c, -TENON_E_UNSUPPORTED,
							 "an array in column-major order");
}

/* A string of bytes. Its size is in its type; numpy writes an empty one as a NUL. */
static int take_string(const struct tenon_cursor *c, struct tenon_slice *out)
{
	struct npy_header a;
	uint64_t size = 0;
	size_t i;
	int err;

	err = read_array(*c, &a, out);
	if (err)
		return err;
	for (i = 2; i < a.type.size && size <= UINT32_MAX; i++)
		size = a.type.data[i] >= '0' && a.type.data[i] <= '9'
			       ? size * 10 + (uint64_t)(a.type.data[i] - '0')
			       : UINT64_MAX;
	if (a.ndim || a.type.size < 3 || memcmp(a.type.data, "|S", 2) || size != out->size)
		return tenon_cursor_error(c, -TENON_E_FORMAT, "no string of bytes");
	if (out->size == 1 && !*out->data)
		out->size = 0;
	return 0;
}

/* Integers of 64 bits, 0 or more, in rows of @columns. An empty array has any type. */
static int take_numbers(const struct tenon_cursor *c, int32_t ndim, uint64_t columns,
			struct tenon_slice *out, uint64_t *rows)
{
	struct tenon_slice data;
	struct npy_header a;
	uint64_t i;
	int err;

	err = read_array(*c, &a, &data);
	if (err)
		return err;
	*rows = a.ndim ? (uint64_t)a.shape[0] : 1;
	if (!*rows)
		return 0;
	if (!tenon_slice_equal(a.type, tenon_slice_of("<i8")) || a.ndim != ndim ||
	    *rows > TENSORS_MOST || a.elements != *rows * columns || data.size != a.elements * 8)
		return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "not the integers of 64 bits that are expected here");
	for (i = 0; i < a.elements; i++)
		if (data.data[8 * i + 7] & 0x80)
			return tenon_cursor_error(c, -TENON_E_FORMAT, "a negative number");
	*out = data;
	return 0;
}

static int take_scalar(struct reader *r, const struct tenon_cursor *c, unsigned int which)
{
	struct tenon_slice data = { "", 0 };
	struct tenon_cursor at;
	uint64_t rows;
	int err;

	err = take_numbers(c, 0, 1, &data, &rows);
	if (err)
		return err;
	at = tenon_cursor_of(data.data, data.size, c->name, 0);
	r->has_scalar[which] = true;
	return tenon_cursor_u64(&at, &r->scalars[which]);
}

static int take_field(struct reader *r, const struct tenon_cursor *c, unsigned int role,
		      unsigned int field)
{
	const bool shape = field == ETHOSU_TENSOR_SHAPE;
	struct tenon_slice *data = &r->out->fields[role][field];
	uint64_t rows;
	int err;

	err = take_numbers(c, shape ? 2 : 1, shape ? ETHOSU_DIMENSIONS : 1, data, &rows);
	if (!err && field == ETHOSU_TENSOR_REGION)
		r->out->counts[role] = rows;
	return err;
}

static bool is_named(struct tenon_slice entry, const char *first, const char *second)
{
	const size_t a = strlen(first), b = strlen(second);

	return entry.size == a + b + 4 && !memcmp(entry.data, first, a) &&
	       !memcmp(entry.data + a, second, b) && !memcmp(entry.data + a + b, ".npy", 4);
}

static int take_entry(struct reader *r, struct tenon_slice entry, const struct tenon_cursor *c)
{
	unsigned int i, k;

	if (is_named(entry, "cmd_data", "")) {
		r->command_data_at = tenon_cursor_place(c) + tenon_cursor_left(c);
		return take_string(c, &r->command_data);
	}
	if (is_named(entry, "weight_data", "")) {
		r->has_weights = true;
		return take_string(c, &r->out->constants);
	}
	for (i = 0; i < SCALARS; i++)
		if (is_named(entry, scalar_names[i], ""))
			return take_scalar(r, c, i);
	for (i = 0; i < ETHOSU_ROLES; i++)
		for (k = 0; k < ETHOSU_FIELDS; k++)
			if (is_named(entry, ethosu_role_names[i], fields[k]))
				return take_field(r, c, i, k);
	return 0;
}

/* ---- the archive */

static int read_entries(struct reader *r, struct tenon_cursor *c)
{
	struct stored_entry e;
	int err = 0, more;

	while (!err && (more = stored_entry_next(c, "Vela", &e)) > 0) {
		const struct tenon_slice bytes = { (const char *)e.contents.at,
						   tenon_cursor_left(&e.contents) };

		if (stored_crc(bytes) != e.crc)
			err = tenon_cursor_error(c, -TENON_E_FORMAT,
						 "the entry in front of here is damaged: its "
						 "checksum is another");
		err = err ? err : take_entry(r, e.name, &e.contents);
	}
	return err ? err : more;
}

static int lacks(const struct reader *r, const char *what)
{
	return tenon_error(-TENON_E_NOT_FOUND,
			   "%s: no array is called %s: not what Vela writes with --output-format "
			   "raw",
			   r->name, what);
}

static int check_regions(const struct reader *r)
{
	const uint64_t *n = r->scalars;
	unsigned int i;

	for (i = 0; i < SCALARS; i++)
		if (!r->has_scalar[i])
			return lacks(r, scalar_names[i]);
	return ethosu_regions_check(r->out, r->name,
				    &(struct ethosu_regions){
					    .constants = n[WEIGHT_REGION],
					    .scratch = n[SCRATCH_REGION],
					    .scratch_size = n[SCRATCH_SIZE],
					    .fast = n[FAST_REGION],
					    .fast_size = n[FAST_SIZE],
				    });
}

int ethosu_npz_read(const struct tenon_cursor *c, struct ethosu_container *out)
{
	struct reader r = { .name = c->name ? c->name : "npz", .out = out };
	struct tenon_cursor at = *c;
	int err;

	out->format = "npz";
	out->complete = true;
	err = read_entries(&r, &at);
	if (!err && !r.command_data.size)
		err = lacks(&r, "cmd_data");
	if (!err && !r.has_weights)
		err = lacks(&r, "weight_data");
	if (!err)
		err = check_regions(&r);
	if (err)
		return err;
	at = tenon_cursor_of(r.command_data.data, r.command_data.size, c->name,
			     r.command_data_at - r.command_data.size);
	return ethosu_payload_read(&at, &out->payload);
}
