/* SPDX-License-Identifier: MIT */
/* Format of CUDA modules in blobs and files. */
#include "devices/cuda/cuda_payload.h"

#include <string.h>
#include <tenon/backend/buffer.h>

static bool is_axis(struct tenon_slice tag, const char *prefix)
{
	size_t n = strlen(prefix);

	return tag.size == n + 1 && !memcmp(tag.data, prefix, n) && tag.data[n] >= 'x' &&
	       tag.data[n] <= 'z';
}

static bool is_flag(struct tenon_slice tag, const char *name)
{
	/* up to TVM 0.23, and from 0.24 */
	static const char *const prefixes[] = { "tir.", "tirx." };
	size_t i, n;

	for (i = 0; i < 2; i++) {
		n = strlen(prefixes[i]);
		if (tag.size == n + strlen(name) && !memcmp(tag.data, prefixes[i], n) &&
		    !memcmp(tag.data + n, name, strlen(name)))
			return true;
	}
	return false;
}

static bool cuda_tag(struct tenon_slice tag, int *extent, uint32_t *flags)
{
	if (is_axis(tag, "clusterCtaIdx.")) {
		*extent = TENON_TAG_CLUSTER + tag.data[tag.size - 1] - 'x';
		*flags |= TENON_KERNEL_CLUSTER;
	} else if (is_axis(tag, "preferredClusterCtaIdx.")) {
		*extent = TENON_TAG_PREFERRED_CLUSTER + tag.data[tag.size - 1] - 'x';
		*flags |= TENON_KERNEL_PREFERRED_CLUSTER;
	} else if (is_flag(tag, "use_cooperative_launch")) {
		*flags |= TENON_KERNEL_COOPERATIVE;
	} else if (is_flag(tag, "use_programtic_dependent_launch") ||
		   is_flag(tag, "use_programmatic_dependent_launch")) {
		/* TVM uses the first spelling */
		*flags |= TENON_KERNEL_DEPENDENT;
	} else {
		return false;
	}
	return true;
}

const char *const cuda_payload_kinds[] = { "cuda", NULL };

/* CUDA C, the format "cuda" of TVM, is in files .cu; tenon unpack writes the name of the format */
static const struct tenon_payload_file files[] = {
	{ "ptx", "cuda", "tvm_meta.json" },    { "cubin", "cuda", "tvm_meta.json" },
	{ "fatbin", "cuda", "tvm_meta.json" }, { "cu", "cuda", "tvm_meta.json" },
	{ "cuda", "cuda", "tvm_meta.json" },   { NULL, NULL, NULL },
};

static int cuda_pack(const struct tenon_payload_file *file, struct tenon_cursor *program,
		     struct tenon_slice table, struct tenon_buffer *out)
{
	const struct tenon_slice bytes = { (const char *)program->at, tenon_cursor_left(program) };

	tenon_buffer_string(out,
			    tenon_slice_of(strcmp(file->suffix, "cu") ? file->suffix : "cuda"));
	tenon_buffer_slice(out, table);
	return tenon_buffer_string(out, bytes);
}

static int cuda_unpack(const struct tenon_payload_file *file, struct tenon_cursor *rest,
		       struct tenon_buffer *out)
{
	struct tenon_slice program;
	int err = tenon_cursor_string(rest, &program);

	return err ? err : tenon_buffer_slice(out, program);
}

static const struct tenon_payload_format cuda_payload = {
	.size = sizeof(cuda_payload),
	.kinds = cuda_payload_kinds,
	.fields = "fmd",
	.remedy = "Enable CONFIG_DEVICE_CUDA or install its plug-in.",
	.files = files,
	.tag = cuda_tag,
	.pack = cuda_pack,
	.unpack = cuda_unpack,
};

const struct tenon_payload_format *const cuda_payload_formats[] = { &cuda_payload, NULL };
