/* SPDX-License-Identifier: MIT */
/* Convert the payload of a device's module to a program for backends. */
#include "runtime/core/tensor_data.h"
#include "runtime/payload/payload_program.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/object.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/heap.h"
#include "lib/slice_text.h"
#include "lib/string_map.h"

/* size of the smallest tag, an empty string */
#define TAG_LEAST 8

/* sizes of the parts of a program */
struct totals {
	size_t kernels;
	size_t arguments;
	size_t tags;
};

/* The program, its kernels, arguments, tags and label are allocated as one block. */
struct building {
	const struct tenon_payload_format *format;
	struct tenon_program *program;
	struct tenon_kernel_info *kernel;
	struct tenon_argument *argument;
	uint8_t *tag;
	struct string_map by_name; /* kernels by name, where each has its own code */
};

static struct totals count_all(const struct tenon_payload_info *info)
{
	struct totals t = { info->function_count, 0, 0 };
	size_t i;

	for (i = 0; i < info->function_count; i++) {
		t.arguments += info->functions[i].arg_types.size / 4;
		t.tags += info->functions[i].tags.size / TAG_LEAST;
	}
	return t;
}

/* Parse a launch extent: "blockIdx.x" and so on. Returns the tag, or -1. */
static int extent_tag(struct tenon_slice tag)
{
	static const struct {
		const char *name;
		int tag;
	} names[] = {
		{ "blockIdx.", TENON_TAG_GRID },
		{ "threadIdx.", TENON_TAG_BLOCK },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tenon_slice axis = tag;

		if (slice_take(&axis, names[i].name) && axis.size == 1 && *axis.data >= 'x' &&
		    *axis.data <= 'z')
			return names[i].tag + (*axis.data - 'x');
	}
	return -1;
}

/* "tir." up to TVM 0.23, "tirx." from 0.24 */
static bool is_shared_tag(struct tenon_slice tag)
{
	return (slice_take(&tag, "tirx.") || slice_take(&tag, "tir.")) &&
	       slice_is(tag, "use_dyn_shared_memory");
}

/* Look up a tag; false when neither the common tags nor this format's include it. */
static bool lookup_tag(const struct building *b, struct tenon_slice tag, int *extent,
		       uint32_t *flags)
{
	bool (*own)(struct tenon_slice, int *, uint32_t *) = PAYLOAD_SLOT(b->format, tag);

	*extent = extent_tag(tag);
	if (*extent >= 0)
		return true;
	if (is_shared_tag(tag)) {
		*extent = TENON_TAG_SHARED;
		*flags |= TENON_KERNEL_SHARED;
		return true;
	}
	return own && own(tag, extent, flags) && *extent < TENON_TAG_COUNT;
}

static void note_extent(struct building *b, int extent)
{
	struct tenon_kernel_info *k = b->kernel;
	uint32_t dimension = (uint32_t)(extent % 3) + 1;

	if (extent < 0)
		return;
	if (extent < TENON_TAG_CLUSTER && dimension > k->dimensions)
		k->dimensions = dimension;
	b->tag[k->tag_count++] = (uint8_t)extent;
}

static int read_tags(struct building *b, const struct tenon_payload_function *f)
{
	struct tenon_cursor c = tenon_cursor_of(f->tags.data, f->tags.size, "launch tags", 0);
	struct tenon_slice tag;
	uint64_t i;
	int err, extent;

	for (i = 0; i < f->tag_count; i++) {
		err = take_string(&c, &tag);
		if (err)
			return err;
		if (!lookup_tag(b, tag, &extent, &b->kernel->flags))
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "kernel %.*s: launch tag \"%.*s\" is not known here",
					   (int)f->name.size, f->name.data, (int)tag.size,
					   tag.data);
		note_extent(b, extent);
	}
	b->kernel->tags = b->tag;
	b->tag += f->tags.size / TAG_LEAST;
	return 0;
}

static bool scalar_fits(DLDataType t)
{
	unsigned int bits = t.bits;

	if (t.lanes != 1)
		return false;
	switch (t.code) {
	case TENON_DTYPE_INT:
	case TENON_DTYPE_UINT:
		/* TVM up to 0.22 writes bool as {uint, 1}. */
		return bits == 8 || bits == 16 || bits == 32 || bits == 64 ||
		       (bits == 1 && t.code == TENON_DTYPE_UINT);
	case TENON_DTYPE_FLOAT:
		return bits == 16 || bits == 32 || bits == 64;
	case TENON_DTYPE_BFLOAT:
		return bits == 16;
	case TENON_DTYPE_BOOL:
		return bits == 8;
	default:
		return false;
	}
}

static int read_argument(struct building *b, const struct tenon_payload_function *f, size_t i)
{
	struct tenon_argument *a = &b->argument[i];
	struct tenon_kernel_info *k = b->kernel;
	char name[TENON_DTYPE_NAME];
	uint32_t extra = 0;

	memcpy(&a->type, f->arg_types.data + 4 * i, 1);
	memcpy(&a->type.bits, f->arg_types.data + 4 * i + 1, 1);
	a->type.lanes = (uint16_t)((uint8_t)f->arg_types.data[4 * i + 2] |
				   (uint8_t)f->arg_types.data[4 * i + 3] << 8);
	if (f->extra.size >= 4 * (i + 1))
		extra = load_u32((const uint8_t *)f->extra.data + 4 * i);
	if (extra > 1)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "kernel %.*s: argument %zu has tag %u, which is not known here",
				   (int)f->name.size, f->name.data, i, extra);
	if (a->type.code == TENON_DTYPE_HANDLE) {
		a->kind = extra ? TENON_ARGUMENT_TENSOR_MAP : TENON_ARGUMENT_MEMORY;
		a->size = extra ? 128 : 8;
		a->index = extra ? 0 : (uint16_t)k->memory_count;
		k->memory_count += !extra;
		return 0;
	}
	if (!scalar_fits(a->type))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "kernel %.*s: argument %zu is a %s, which kernels do not take",
				   (int)f->name.size, f->name.data, i,
				   tenon_dtype_name(a->type, name));
	a->kind = TENON_ARGUMENT_SCALAR;
	a->size = (uint8_t)((a->type.bits + 7) / 8);
	a->index = (uint16_t)k->scalar_count++;
	return 0;
}

static int build_kernel(struct building *b, const struct tenon_payload_function *f)
{
	size_t i, n = f->arg_types.size / 4;
	int err = 0;

	if (n > UINT16_MAX)
		return tenon_error(-TENON_E_UNSUPPORTED, "kernel %.*s takes %zu arguments",
				   (int)f->name.size, f->name.data, n);
	b->kernel->name = f->name;
	b->kernel->arguments = b->argument;
	b->kernel->argument_count = (uint32_t)n;
	b->kernel->dimensions = 1;
	for (i = 0; i < n && !err; i++)
		err = read_argument(b, f, i);
	if (!err)
		err = read_tags(b, f);
	b->argument += n;
	b->kernel++;
	return err;
}

/* Index kernels by name. Of several with one name, the first wins. */
static int name_kernels(struct building *b)
{
	struct tenon_kernel_info *k = b->kernel - b->program->kernel_count;
	void **slot;

	for (; k < b->kernel; k++) {
		slot = string_map_slot(&b->by_name, k->name);
		if (!slot)
			return tenon_error(-TENON_E_NOMEM, "no memory for %zu names of kernels",
					   b->program->kernel_count);
		if (!*slot)
			*slot = k;
	}
	return 0;
}

/* Assign each kernel its own code, where the payload stores code per kernel. */
static int assign_parts(struct building *b, const struct tenon_payload_info *info)
{
	struct tenon_kernel_info *k;
	size_t i;
	int err = 0;

	if (info->part_count)
		err = name_kernels(b);
	for (i = 0; i < info->part_count && !err; i++) {
		k = string_map_get(&b->by_name, info->parts[i].name);
		if (k) {
			k->code = info->parts[i].code;
			k->code_flags = info->parts[i].flags;
		}
	}
	return err;
}

static int split_code(struct building *b, const struct tenon_payload_info *info)
{
	int (*split)(struct tenon_payload_info *) = PAYLOAD_SLOT(b->format, split);
	struct tenon_payload_info pieces = *info;
	int err;

	if (!split || info->part_count)
		return assign_parts(b, info);
	/* Other threads may be using the module's own lists. */
	pieces.parts = NULL;
	pieces.part_count = 0;
	err = split(&pieces);
	if (!err)
		err = assign_parts(b, &pieces);
	free(pieces.parts);
	return err;
}

static int make_memory(const struct totals *t, const char *label, struct building *b)
{
	size_t kernels = t->kernels * sizeof(struct tenon_kernel_info);
	size_t arguments = t->arguments * sizeof(struct tenon_argument);
	size_t length = strlen(label) + 1;
	struct tenon_program *p;
	char *at;

	/* no overflow: the payload took at least as much memory */
	p = heap_zeroed(1, sizeof(*p) + kernels + arguments + t->tags + length, "program");
	if (!p)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for %zu kernels", label,
				   t->kernels);
	b->program = p;
	b->kernel = (struct tenon_kernel_info *)(p + 1);
	b->argument = (struct tenon_argument *)(b->kernel + t->kernels);
	b->tag = (uint8_t *)(b->argument + t->arguments);
	at = (char *)b->tag + t->tags;
	memcpy(at, label, length);
	p->label = at;
	p->kernels = b->kernel;
	p->kernel_count = t->kernels;
	return 0;
}

int payload_program_make(const struct tenon_payload_format *format,
			 const struct tenon_payload_info *info, const char *label,
			 struct tenon_program **out)
{
	struct building b = { .format = format, .by_name = STRING_MAP_INIT };
	struct totals totals = count_all(info);
	size_t i;
	int err;

	*out = NULL;
	if (!info->has_kernels)
		return tenon_error(-TENON_E_FORMAT, "%s: a payload without a table of kernels",
				   label);
	err = make_memory(&totals, label, &b);
	if (err)
		return err;
	b.program->kind = info->kind;
	b.program->format = info->format;
	b.program->code = info->code;
	for (i = 0; i < info->function_count && !err; i++)
		err = build_kernel(&b, &info->functions[i]);
	if (!err)
		err = split_code(&b, info);
	string_map_fini(&b.by_name);
	if (err) {
		heap_free(b.program);
		return tenon_error_in(err, "%s", label);
	}
	*out = b.program;
	return 0;
}

int payload_read_either(const struct tenon_payload_format *format, struct tenon_slice bytes,
			struct tenon_payload_info *info)
{
	const struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct tenon_error *first;
	int err, second;

	info->extra_tags = info->generation != TENON_GENERATION_LEGACY;
	err = payload_read(format, &c, info);
	/*
	 * 0.20 and 0.21 wrote old blobs with new tables, and bytes without a blob may have either.
	 */
	if (err && err != -TENON_E_NOMEM && info->generation != TENON_GENERATION_FFI) {
		first = tenon_error_take();
		info->extra_tags = !info->extra_tags;
		/* the lists of what was read so far */
		payload_info_fini(info);
		second = first ? payload_read(format, &c, info)
			       : tenon_error(-TENON_E_NOMEM, "no memory for a message");
		/* Neither fits: raise the error of the form that is expected. */
		if (second && second != -TENON_E_NOMEM)
			tenon_error_raise(first);
		else
			err = second;
		tenon_object_unref(first);
	}
	if (err)
		payload_info_fini(info);
	return err;
}

int tenon_program_read(struct tenon_slice kind, int generation, struct tenon_slice bytes,
		       const char *label, struct tenon_program **out)
{
	const struct tenon_payload_format *format = payload_format_of(kind);
	struct tenon_payload_info info = { .kind = kind, .generation = (uint8_t)generation };
	int err;

	*out = NULL;
	err = bytes_check_data(bytes.data, bytes.size);
	if (!err)
		err = payload_read_either(format, bytes, &info);
	if (err)
		return tenon_error_in(err, "%s", label);
	err = payload_program_make(format, &info, label, out);
	payload_info_fini(&info);
	return err;
}
