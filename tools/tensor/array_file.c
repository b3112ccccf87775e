/* SPDX-License-Identifier: MIT */
/* Read .npy and raw files to tensors of a wanted type, and write tensors to such files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/file/file.h"
#include "tools/file/output.h"
#include "tools/tensor/array_file.h"
#include "tools/tensor/element.h"
#include "tools/tensor/npy.h"
#include "tools/tensor/spec.h"

static struct tenon_slice bytes_of(const struct tenon_buffer *b)
{
	struct tenon_slice s = { b->data, b->size };

	return s;
}

int array_file_bytes(struct tenon_slice bytes, const char *name, struct tenon_tensor **out)
{
	struct npy npy;
	int err;

	err = npy_read(bytes, name, &npy);
	if (!err && npy.raw)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: elements of %d raw bytes, whose type the file does not "
				  "name: put the type in front, as in 2x3x%s=@FILE",
				  name, npy.dtype.bits / 8,
				  npy.dtype.bits == 8 ? "float8_e4m3fn" : "bfloat16");
	if (!err)
		err = tenon_tensor_create(npy.head.shape, npy.head.ndim, npy.dtype, out);
	if (!err)
		npy_copy(&npy, (*out)->dl.data);
	return err;
}

static uint64_t array_wanted(void *context, struct tenon_slice have)
{
	return npy_wanted(have);
}

int array_file_tensor(const char *path, struct tenon_tensor **out)
{
	static const struct file_want want = { array_wanted, NULL };
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	int err = file_read(path, &want, &bytes);

	if (!err)
		err = array_file_bytes(bytes_of(&bytes), path, out);
	tenon_buffer_fini(&bytes);
	return err;
}

/* ---- loading a file into a tensor of known type */

static bool same_shape(const struct npy *npy, const DLTensor *dl)
{
	int32_t lanes = dl->dtype.lanes > 1; /* in the file lanes are an additional dimension */

	if (npy->head.ndim != dl->ndim + lanes)
		return false;
	if (lanes && npy->head.shape[dl->ndim] != dl->dtype.lanes)
		return false;
	return !dl->ndim || !memcmp(npy->head.shape, dl->shape, (size_t)dl->ndim * sizeof(int64_t));
}

/*
 * Pack bytes with one small element each. Returns the index of the first byte that is too large, or
 * @count.
 */
static uint64_t pack(const uint8_t *from, uint64_t count, DLDataType dtype, uint8_t *to)
{
	for (uint64_t i = 0; i < count; i++) {
		unsigned int high = from[i] >> dtype.bits;
		bool negative = dtype.code == TENON_DTYPE_INT && from[i] >> 7 &&
				high == 0xffu >> dtype.bits && from[i] >> (dtype.bits - 1) & 1;

		if (high && !negative)
			return i;
		for (unsigned int b = 0; b < dtype.bits; b++) {
			uint64_t at = i * dtype.bits + b;

			to[at / 8] |= (uint8_t)((from[i] >> b & 1) << at % 8);
		}
	}
	return count;
}

static int copy_packed(const char *path, const struct npy *npy, const DLTensor *dl)
{
	uint8_t *bytes = malloc(npy->head.elements + 1);
	char name[TENON_DTYPE_NAME];
	uint64_t bad;
	int err = 0;

	if (!bytes)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for %" PRIu64 " bytes", path,
				   npy->head.elements);
	npy_copy(npy, bytes);
	bad = pack(bytes, npy->head.elements, dl->dtype, dl->data);
	if (bad < npy->head.elements)
		err = tenon_error(-TENON_E_VALUE,
				  "%s: element %" PRIu64 " is 0x%02x, too much for %s", path, bad,
				  bytes[bad], tenon_dtype_name(dl->dtype, name));
	free(bytes);
	return err;
}

static int check_array(const char *path, const struct npy *npy, const DLTensor *dl)
{
	char have[TYPE_TEXT], want[TYPE_TEXT];
	bool packed = dl->dtype.bits < 8;

	type_text(npy->head.shape, npy->head.ndim, npy->dtype, have);
	type_text(dl->shape, dl->ndim, dl->dtype, want);
	if (!same_shape(npy, dl))
		return tenon_error(-TENON_E_VALUE, "%s holds %s, not of the shape of %s", path,
				   have, want);
	if (npy->dtype.bits != (packed ? 8 : dl->dtype.bits))
		return tenon_error(-TENON_E_VALUE,
				   "%s holds %s with elements of %d bytes, those of %s %s %d", path,
				   have, npy->dtype.bits / 8, want, packed ? "are kept in" : "have",
				   packed ? 1 : dl->dtype.bits / 8);
	return 0;
}

static int copy_array(const char *path, struct tenon_slice bytes, const DLTensor *dl)
{
	struct npy npy;
	int err;

	/* After a mismatch the rest of the file may not have been read. */
	err = npy_read_head(bytes, path, &npy);
	if (!err)
		err = check_array(path, &npy, dl);
	if (!err)
		err = npy_read(bytes, path, &npy);
	if (err)
		return err;
	if (dl->dtype.bits < 8)
		return copy_packed(path, &npy, dl);
	npy_copy(&npy, dl->data);
	return 0;
}

static int copy_raw(const char *path, struct tenon_slice bytes, const DLTensor *dl, size_t size)
{
	char want[TYPE_TEXT];

	if (bytes.size > size)
		return tenon_error(-TENON_E_VALUE, "%s has more than the %zu bytes that %s needs",
				   path, size, type_text(dl->shape, dl->ndim, dl->dtype, want));
	if (bytes.size != size)
		return tenon_error(-TENON_E_VALUE, "%s has %zu bytes, %s needs %zu", path,
				   bytes.size, type_text(dl->shape, dl->ndim, dl->dtype, want),
				   size);
	if (size)
		memcpy(dl->data, bytes.data, size);
	return 0;
}

/* Upper size limit: raw bytes, or an array, which may store each bit as a byte. */
static uint64_t file_size_limit(void *context, struct tenon_slice have)
{
	const size_t *size = context;
	uint64_t array;

	if (have.size < NPY_LEAST)
		return *size > NPY_LEAST ? *size : NPY_LEAST;
	if (!npy_is(have))
		return *size;
	array = npy_wanted(have);
	return array <= NPY_HEADER_MOST + 8 * (uint64_t)*size ? array : 0;
}

int array_file_load(const char *path, const DLTensor *dl)
{
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct file_want want = { file_size_limit, NULL };
	uint64_t elements;
	size_t size;
	int err;

	err = tenon_tensor_elements(dl, &elements);
	if (!err)
		err = element_bytes(elements, dl->dtype, &size);
	want.context = &size;
	if (!err)
		err = file_read(path, &want, &bytes);
	if (!err)
		err = npy_is(bytes_of(&bytes)) ? copy_array(path, bytes_of(&bytes), dl)
					       : copy_raw(path, bytes_of(&bytes), dl, size);
	tenon_buffer_fini(&bytes);
	return err;
}

/* ---- writing */

int array_file_write(const char *path, const DLTensor *dl)
{
	struct tenon_slice bytes = { (const char *)dl->data + dl->byte_offset, 0 };
	const char *suffix = strrchr(path, '.');
	uint64_t elements;
	int err;

	if (suffix && !strcmp(suffix, ".npy"))
		return npy_write(path, dl, false);
	err = tenon_tensor_elements(dl, &elements);
	if (!err)
		err = element_bytes(elements, dl->dtype, &bytes.size);
	return err ? err : output_write(path, &bytes, 1);
}
