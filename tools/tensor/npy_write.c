/* SPDX-License-Identifier: MIT */
/* Write a tensor as an array file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "tools/file/output.h"
#include "tools/tensor/element.h"
#include "tools/tensor/npy.h"

/* Get numpy's kind and size for a dtype; 0 if there is none. */
static unsigned int numpy_type(DLDataType dtype, char *kind)
{
	unsigned int bytes = (dtype.bits + 7u) / 8;

	switch (element_class_of(dtype)) {
	case ELEMENT_BOOL:
		*kind = 'b';
		return 1;
	case ELEMENT_SIGNED:
		*kind = 'i';
		return bytes;
	case ELEMENT_UNSIGNED:
		*kind = 'u';
		return bytes;
	case ELEMENT_COMPLEX:
		*kind = 'c';
		return bytes;
	case ELEMENT_REAL:
		*kind = dtype.code == TENON_DTYPE_FLOAT ? 'f' : 'u';
		return bytes;
	default:
		return 0;
	}
}

static int write_header(const DLTensor *dl, struct tenon_buffer *b)
{
	char kind = 0, name[TENON_DTYPE_NAME];
	unsigned int bytes = numpy_type(dl->dtype, &kind);
	struct tenon_buffer text = TENON_BUFFER_INIT;
	size_t pad;
	int err;

	if (!bytes)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s has no form in numpy's array files",
				   tenon_dtype_name(dl->dtype, name));
	tenon_buffer_printf(&text, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (",
			    bytes < 2	      ? '|'
			    : NPY_HOST_IS_BIG ? '>'
					      : '<',
			    kind, bytes);
	for (int32_t i = 0; i < dl->ndim; i++)
		tenon_buffer_printf(&text, i ? " %" PRId64 "," : "%" PRId64 ",", dl->shape[i]);
	if (dl->dtype.lanes > 1)
		tenon_buffer_printf(&text, " %d,", dl->dtype.lanes);
	tenon_buffer_printf(&text, "), }");
	/* The data start at a multiple of 64. */
	pad = (64 - (10 + text.size + 1) % 64) % 64;
	tenon_buffer_append(b, "\x93NUMPY\x01\x00", 8);
	tenon_buffer_u8(b, (uint8_t)(text.size + pad + 1));
	tenon_buffer_u8(b, (uint8_t)((text.size + pad + 1) >> 8));
	tenon_buffer_append(b, text.data, text.size);
	err = tenon_buffer_printf(b, "%*s\n", (int)pad, "");
	if (!err)
		err = text.status;
	tenon_buffer_fini(&text);
	return err;
}

/* Unpack elements to one byte each: integers by value, formats that numpy lacks by code. */
static uint8_t *unpack(const DLTensor *dl, uint64_t count)
{
	unsigned int code = dl->dtype.code == TENON_DTYPE_INT ? TENON_DTYPE_INT : TENON_DTYPE_UINT;
	const uint8_t *data = (const uint8_t *)dl->data + dl->byte_offset;
	uint8_t *bytes = malloc(count ? count : 1);

	for (uint64_t i = 0; bytes && i < count; i++) {
		uint64_t at = i * dl->dtype.bits;
		unsigned int value = 0;

		for (unsigned int b = 0; b < dl->dtype.bits; b++, at++)
			value |= (unsigned int)(data[at / 8] >> at % 8 & 1) << b;
		if (code == TENON_DTYPE_INT && value >> (dl->dtype.bits - 1))
			value |= 0xffu << dl->dtype.bits;
		bytes[i] = (uint8_t)value;
	}
	return bytes;
}

int npy_bytes_make(const DLTensor *dl, struct npy_bytes *out)
{
	DLDataType dtype = element_storage(dl->dtype);
	uint64_t elements;
	int err;

	memset(out, 0, sizeof(*out));
	err = write_header(dl, &out->header);
	if (!err)
		err = tenon_tensor_elements(dl, &elements);
	if (!err)
		err = element_bytes(elements, dtype, &out->data.size);
	if (err)
		return err;
	out->data.data = (const char *)dl->data + dl->byte_offset;
	if (dtype.bits >= 8)
		return 0;
	out->data.size = elements * dtype.lanes;
	out->unpacked = unpack(dl, out->data.size);
	out->data.data = (const char *)out->unpacked;
	return out->unpacked
		       ? 0
		       : tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes", out->data.size);
}

void npy_bytes_fini(struct npy_bytes *bytes)
{
	free(bytes->unpacked);
	tenon_buffer_fini(&bytes->header);
}

int npy_write(const char *path, const DLTensor *dl, bool in_folder)
{
	struct tenon_slice parts[2];
	struct npy_bytes bytes;
	int err = npy_bytes_make(dl, &bytes);

	parts[0] = (struct tenon_slice){ bytes.header.data, bytes.header.size };
	parts[1] = bytes.data;
	if (err)
		tenon_error_in(err, "%s", path);
	else
		err = (in_folder ? output_replace : output_write)(path, parts, 2);
	npy_bytes_fini(&bytes);
	return err;
}
