/* SPDX-License-Identifier: MIT */
/* From the payload of a device's module to a program that backends understand. */
#include "runtime/payload/payload_program.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/cursor_fast.h"
#include "lib/string_map.h"

#define MARKER "// Function: "

/* sizes of what a program consists of */
struct totals {
	size_t kernels;
	size_t arguments;
	size_t tags;
};

/* program, kernels, arguments, tags and label lie in one piece of memory */
struct building {
	struct tenon_program *program;
	struct tenon_kernel_info *kernel;
	struct tenon_argument *argument;
	uint8_t *tag;
	struct string_map by_name; /* kernels, where each has code of its own */
};

static int count_one(void *context, const struct payload_function *f)
{
	struct totals *t = context;

	t->kernels++;
	t->arguments += f->arg_types.size / 4;
	t->tags += (size_t)f->tag_count;
	return 0;
}

static bool begins(struct tenon_slice *s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (s->size < n || memcmp(s->data, prefix, n))
		return false;
	s->data += n;
	s->size -= n;
	return true;
}

/* extents: "blockIdx.x" and its like; returns the tag, or -1 */
static int extent_tag(struct tenon_slice tag)
{
	static const struct {
		const char *name;
		int tag;
	} names[] = {
		{ "blockIdx.", TENON_TAG_GRID },
		{ "threadIdx.", TENON_TAG_BLOCK },
		{ "clusterCtaIdx.", TENON_TAG_CLUSTER },
		{ "preferredClusterCtaIdx.", TENON_TAG_PREFERRED_CLUSTER },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tenon_slice axis = tag;

		if (begins(&axis, names[i].name) && axis.size == 1 && *axis.data >= 'x' &&
		    *axis.data <= 'z')
			return names[i].tag + (*axis.data - 'x');
	}
	return -1;
}

static int flag_tag(struct tenon_slice tag, uint32_t *flag)
{
	*flag = 0;
	/* "tir." up to TVM 0.23, "tirx." from 0.24; "programtic" is how TVM spells it */
	if (!begins(&tag, "tirx.") && !begins(&tag, "tir."))
		return -1;
	if (tenon_slice_equal(tag, tenon_slice_of("use_dyn_shared_memory")))
		*flag = TENON_KERNEL_SHARED;
	else if (tenon_slice_equal(tag, tenon_slice_of("use_cooperative_launch")))
		*flag = TENON_KERNEL_COOPERATIVE;
	else if (tenon_slice_equal(tag, tenon_slice_of("use_programtic_dependent_launch")) ||
		 tenon_slice_equal(tag, tenon_slice_of("use_programmatic_dependent_launch")))
		*flag = TENON_KERNEL_DEPENDENT;
	return *flag ? 0 : -1;
}

static void note_extent(struct tenon_kernel_info *k, int tag)
{
	uint32_t dimension = (uint32_t)(tag % 3) + 1;

	if (tag < TENON_TAG_CLUSTER && dimension > k->dimensions)
		k->dimensions = dimension;
	if (tag >= TENON_TAG_PREFERRED_CLUSTER)
		k->flags |= TENON_KERNEL_PREFERRED_CLUSTER;
	else if (tag >= TENON_TAG_CLUSTER)
		k->flags |= TENON_KERNEL_CLUSTER;
}

static int read_tags(struct building *b, const struct payload_function *f)
{
	struct tenon_cursor c = f->tags;
	struct tenon_slice tag;
	uint32_t flag;
	uint64_t i;
	int err, extent;

	for (i = 0; i < f->tag_count; i++) {
		err = take_string(&c, &tag);
		if (err)
			return err;
		extent = extent_tag(tag);
		if (extent >= 0) {
			note_extent(b->kernel, extent);
			b->tag[b->kernel->tag_count++] = (uint8_t)extent;
			continue;
		}
		if (flag_tag(tag, &flag))
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "kernel %.*s: launch tag \"%.*s\" is not known here",
					   (int)f->name.size, f->name.data, (int)tag.size,
					   tag.data);
		b->kernel->flags |= flag;
		if (flag == TENON_KERNEL_SHARED)
			b->tag[b->kernel->tag_count++] = TENON_TAG_SHARED;
	}
	b->kernel->tags = b->tag;
	b->tag += f->tag_count;
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
		/* {uint, 1} is how TVM up to 0.22 writes bool */
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

static int read_argument(struct building *b, const struct payload_function *f, size_t i)
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

static int build_one(void *context, const struct payload_function *f)
{
	struct building *b = context;
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

/* Of kernels that share a name the first one is found. */
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

/* the next marker that begins a line, from @at; NULL */
static const char *next_marker(struct tenon_slice code, const char *at)
{
	const char *end = code.data + code.size;

	while (at < end) {
		at = memmem(at, (size_t)(end - at), MARKER, strlen(MARKER));
		if (!at || at == code.data || at[-1] == '\n')
			return at;
		at++;
	}
	return NULL;
}

/* OpenCL source holds a piece for each kernel, with its name on a line in front. */
static void split_source(const struct building *b)
{
	const struct tenon_program *p = b->program;
	const char *end = p->code.data + p->code.size, *at, *line, *next;
	struct tenon_kernel_info *k;
	struct tenon_slice name;

	for (at = next_marker(p->code, p->code.data); at; at = next) {
		next = next_marker(p->code, at + 1);
		name.data = at + strlen(MARKER);
		line = memchr(name.data, '\n', (size_t)(end - name.data));
		if (!line)
			return;
		name.size = (size_t)(line - name.data);
		if (name.size && name.data[name.size - 1] == '\r')
			name.size--;
		k = string_map_get(&b->by_name, name);
		if (k) {
			k->code.data = line + 1;
			k->code.size = (size_t)((next ? next : end) - (line + 1));
		}
	}
}

static int split_parts(const struct building *b, const struct payload_facts *facts)
{
	struct tenon_cursor c = facts->parts;
	struct tenon_slice name, code;
	struct tenon_kernel_info *k;
	uint64_t i;
	int err = 0;

	for (i = 0; i < facts->part_count && !err; i++) {
		err = take_string(&c, &name);
		if (!err)
			err = take_string(&c, &code);
		k = err ? NULL : string_map_get(&b->by_name, name);
		if (k)
			k->code = code;
	}
	return err;
}

/* flag, number of words, words; checked when the payload was read */
static int split_spirv(const struct building *b, const struct payload_facts *facts)
{
	struct tenon_cursor c = facts->spirv;
	struct tenon_slice name, code;
	struct tenon_kernel_info *k;
	uint64_t i, words;
	uint32_t flag;
	int err = 0;

	for (i = 0; i < facts->spirv_count; i++) {
		err = take_string(&c, &name);
		if (!err && facts->spirv_sized)
			err = tenon_cursor_skip(&c, 8);
		if (!err)
			err = tenon_cursor_u32(&c, &flag);
		if (!err)
			err = take_count(&c, 4, &words);
		if (!err)
			err = tenon_cursor_bytes(&c, 4 * words, &code);
		if (err)
			return err;
		k = string_map_get(&b->by_name, name);
		if (k) {
			k->code = code;
			k->code_flags = flag;
		}
	}
	return 0;
}

/* Give each kernel its own code, where the payload holds it so. */
static int split_code(struct building *b, const struct payload_facts *facts)
{
	const bool source = tenon_slice_equal(facts->format, tenon_slice_of("cl"));
	int err = 0;

	if (facts->part_count || facts->spirv_count || source)
		err = name_kernels(b);
	if (!err && facts->part_count)
		err = split_parts(b, facts);
	if (!err && facts->spirv_count)
		err = split_spirv(b, facts);
	if (!err && source)
		split_source(b);
	return err;
}

static int make_memory(const struct totals *t, const char *label, struct building *b)
{
	size_t kernels = t->kernels * sizeof(struct tenon_kernel_info);
	size_t arguments = t->arguments * sizeof(struct tenon_argument);
	size_t length = strlen(label) + 1;
	struct tenon_program *p;
	char *at;

	/* all of it was in memory as payload, in no less space */
	p = calloc(1, sizeof(*p) + kernels + arguments + t->tags + length);
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

int device_program_make(struct tenon_slice kind, const struct payload_facts *facts,
			const char *label, struct tenon_program **out)
{
	struct building b = { .by_name = STRING_MAP_INIT };
	struct totals totals = { 0, 0, 0 };
	int err;

	*out = NULL;
	if (facts->names != PAYLOAD_TABLE)
		return tenon_error(-TENON_E_FORMAT, "%s: a payload without a table of kernels",
				   label);
	err = payload_each_function(facts, count_one, &totals);
	if (!err)
		err = make_memory(&totals, label, &b);
	if (err)
		return err;
	b.program->kind = kind;
	b.program->format = facts->format;
	b.program->code = facts->code;
	err = payload_each_function(facts, build_one, &b);
	if (!err)
		err = split_code(&b, facts);
	string_map_fini(&b.by_name);
	if (err) {
		free(b.program);
		return tenon_error_in(err, "%s", label);
	}
	if (facts->spirv_count && !facts->format.size)
		b.program->format = tenon_slice_of("spirv");
	*out = b.program;
	return 0;
}

int tenon_program_read(struct tenon_slice kind, int generation, struct tenon_slice bytes,
		       const char *label, struct tenon_program **out)
{
	const struct payload_format *format = payload_format_of(kind);
	const bool legacy = generation == TENON_GENERATION_LEGACY;
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	struct payload_facts facts = { .dialect = legacy ? PAYLOAD_PLAIN : PAYLOAD_EXTRA };
	int err;

	*out = NULL;
	err = payload_read(format, (enum tenon_generation)generation, &c, &facts);
	/* 0.20 and 0.21 wrote old blobs with new tables; bytes from nowhere may be either */
	if (err && generation != TENON_GENERATION_FFI) {
		facts.dialect = legacy ? PAYLOAD_EXTRA : PAYLOAD_PLAIN;
		err = payload_read(format, (enum tenon_generation)generation, &c, &facts);
		/* neither: the words are those about the form that was promised */
		facts.dialect = legacy && err ? PAYLOAD_PLAIN : facts.dialect;
		if (legacy && err)
			err = payload_read(format, (enum tenon_generation)generation, &c, &facts);
	}
	if (err)
		return tenon_error_in(err, "%s", label);
	return device_program_make(kind, &facts, label, out);
}

void tenon_program_free(struct tenon_program *program)
{
	free(program);
}
