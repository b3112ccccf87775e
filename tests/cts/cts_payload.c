/* SPDX-License-Identifier: MIT */
/* Write a payload of the suite's kernels in TVM's encoding. */
#include "tests/cts/cts.h"

#include <tenon/backend/buffer.h>

static void write_dtype(struct tenon_buffer *out, const char *name)
{
	DLDataType t;

	tenon_dtype_parse(tenon_slice_of(name), &t);
	if (!strcmp(name, "handle"))
		t = tenon_dtype(TENON_DTYPE_HANDLE, 64, 1);
	tenon_buffer_u8(out, t.code);
	tenon_buffer_u8(out, t.bits);
	tenon_buffer_u8(out, (uint8_t)t.lanes);
	tenon_buffer_u8(out, (uint8_t)(t.lanes >> 8));
}

static size_t length(const char *const *list, size_t most)
{
	size_t n = 0;

	while (n < most && list[n])
		n++;
	return n;
}

void cts_write_table(struct tenon_buffer *out)
{
	const struct cts_kernel *k;
	size_t i, n, count = 0;

	while (cts_kernels[count].name)
		count++;
	tenon_buffer_u64(out, count);
	for (k = cts_kernels; k->name; k++) {
		tenon_buffer_string(out, tenon_slice_of(k->name));
		tenon_buffer_string(out, tenon_slice_of(""));
		n = length(k->arguments, CTS_ARGUMENTS_MOST);
		tenon_buffer_u64(out, n);
		for (i = 0; i < n; i++)
			write_dtype(out, k->arguments[i]);
		n = length(k->tags, CTS_TAGS_MOST);
		tenon_buffer_u64(out, n);
		for (i = 0; i < n; i++)
			tenon_buffer_string(out, tenon_slice_of(k->tags[i]));
	}
}

/* name, flag, number of words, words: kernels that cannot be had are left out */
static void write_parts(const struct cts_backend *backend, struct tenon_buffer *out)
{
	struct tenon_buffer parts = TENON_BUFFER_INIT, code = TENON_BUFFER_INIT;
	const struct cts_kernel *k;
	uint64_t count = 0;
	uint32_t flags;

	for (k = cts_kernels; k->name; k++) {
		code.size = 0;
		flags = 0;
		if (backend->kernel_code(k, &code, &flags))
			continue;
		tenon_buffer_string(&parts, tenon_slice_of(k->name));
		tenon_buffer_u32(&parts, flags);
		tenon_buffer_u64(&parts, code.size / 4);
		tenon_buffer_append(&parts, code.data, code.size);
		count++;
	}
	tenon_buffer_u64(out, count);
	tenon_buffer_append(out, parts.data, parts.size);
	tenon_buffer_fini(&parts);
	tenon_buffer_fini(&code);
}

int cts_write_payload(const struct cts_backend *backend, struct tenon_buffer *out)
{
	struct tenon_buffer code = TENON_BUFFER_INIT;

	if (backend->payload)
		return backend->payload(out);
	tenon_buffer_string(out, tenon_slice_of(backend->format));
	cts_write_table(out);
	if (backend->code) {
		if (backend->code(&code))
			return -1;
		tenon_buffer_string(out, (struct tenon_slice){ code.data, code.size });
		tenon_buffer_fini(&code);
	} else {
		write_parts(backend, out);
	}
	return out->status;
}
