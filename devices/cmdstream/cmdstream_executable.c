/* SPDX-License-Identifier: MIT */
/* Upload the sections of a stream, check its kernels, and patch addresses at each launch. */
#include "devices/cmdstream/cmdstream_executable.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>
#include <tenon/timeline.h>

#include "lib/brief_errors.h"

/* queues for which an executable keeps scratch memory; more of them share by turns */
#define SCRATCH_MOST 16

/* an upload that takes longer has failed */
#define UPLOAD_NS UINT64_C(30000000000)

/**
 * struct command - a kernel whose code was checked
 * @kernel: its entry in the stream
 * @used: regions that its code names
 * @relocations: kernel.relocation_count entries; offsets from the kernel's first byte
 */
struct command {
	struct tenon_kernel base;
	struct cmdstream_kernel kernel;
	uint64_t used;
	struct tenon_cmdstream_relocation *relocations;
};

/* scratch memory of a queue; the queue is not referenced */
struct scratch {
	const struct tenon_queue *queue;
	struct tenon_memory *memory;
};

/**
 * struct streams - the executable
 * @target: the backend's
 * @stream: view of the program's bytes
 * @places: of scratch and constant regions: offsets in @scratch and @constants
 * @scratch_size: bytes of scratch memory for all kernels; 0 for none
 * @constant_size: bytes of @constants; 0 for none
 * @constants: NULL before the first kernel
 * @lock: guards @scratch
 * @scratch: the queues that launched most recently, newest first
 * @commands: a kernel each; base.executable is NULL until it was checked
 */
struct streams {
	struct tenon_executable base;
	const struct cmdstream_target *target;
	struct cmdstream stream;
	uint64_t places[TENON_CMDSTREAM_REGIONS];
	uint64_t scratch_size;
	uint64_t constant_size;
	struct tenon_memory *constants;
	pthread_mutex_t lock;
	struct scratch scratch[SCRATCH_MOST];
	struct command commands[];
};

static const struct command *command_of(const struct tenon_kernel *kernel)
{
	return (const struct command *)kernel;
}

/* ---- creation */

static int check_target(struct tenon_device *device, const struct cmdstream *s,
			const struct cmdstream_target *target)
{
	uint32_t i;

	if (!tenon_slice_equal(s->target, tenon_slice_of(target->name)))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"a command stream for target \"%.*s\"; %s runs those for \"%s\". "
			"Compile it for this target",
			(int)s->target.size, s->target.data, device->properties->name,
			target->name);
	for (i = 0; i < s->region_count; i++)
		if (s->regions[i].alignment > target->alignment)
			return tenon_error(
				-TENON_E_UNSUPPORTED,
				"region %u (%s) needs an alignment of %u; memory of %s has "
				"%u",
				i, cmdstream_region_name(s->regions[i].kind),
				s->regions[i].alignment, device->properties->name,
				target->alignment);
	return target->check(device, s);
}

/* Give each region of a kind a place in one piece of memory. */
static int lay_out(struct streams *e, uint32_t kind, uint64_t *size)
{
	uint64_t mask;
	uint32_t i;

	*size = 0;
	for (i = 0; i < e->stream.region_count; i++) {
		const struct tenon_cmdstream_region *r = &e->stream.regions[i];

		if (r->kind != kind)
			continue;
		mask = r->alignment - 1;
		e->places[i] = cmdstream_add(*size, mask) & ~mask;
		*size = cmdstream_add(e->places[i], r->size);
		if (*size == UINT64_MAX)
			return tenon_error(-TENON_E_NOMEM, "%s regions of more than 2^64 bytes",
					   cmdstream_region_name(kind));
	}
	return 0;
}

int cmdstream_executable_create(struct tenon_device *device, const struct tenon_program *program,
				const struct cmdstream_target *target,
				struct tenon_executable **out)
{
	struct tenon_cursor c =
		tenon_cursor_of(program->code.data, program->code.size, program->label, 0);
	struct streams *e;
	int err;

	e = calloc(1, sizeof(*e) + program->kernel_count * sizeof(e->commands[0]));
	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable");
	e->target = target;
	err = cmdstream_read(&c, &e->stream);
	if (!err && e->stream.kernel_count != program->kernel_count)
		err = tenon_error(-TENON_E_FORMAT, "%zu kernels in the stream, %zu in the program",
				  e->stream.kernel_count, program->kernel_count);
	err = err ? err : check_target(device, &e->stream, target);
	err = err ? err : lay_out(e, TENON_REGION_SCRATCH, &e->scratch_size);
	err = err ? err : lay_out(e, TENON_REGION_CONSTANT, &e->constant_size);
	err = err ? err : tenon_executable_init(&e->base, device, program);
	if (err) {
		free(e);
		return err;
	}
	pthread_mutex_init(&e->lock, NULL);
	*out = &e->base;
	return 0;
}

void cmdstream_executable_destroy(struct tenon_executable *executable)
{
	struct streams *e = (struct streams *)executable;
	size_t i, count = executable->program->kernel_count;

	/* the device keeps this memory until the launches that use it are done */
	for (i = 0; i < SCRATCH_MOST; i++)
		tenon_object_unref(e->scratch[i].memory);
	tenon_object_unref(e->constants);
	for (i = 0; i < count; i++)
		free(e->commands[i].relocations);
	pthread_mutex_destroy(&e->lock);
	tenon_executable_fini(executable);
	free(e);
}

/* ---- constants */

static void copy_constants(const struct streams *e, uint8_t *to)
{
	const struct cmdstream *s = &e->stream;
	uint32_t i;

	for (i = 0; i < s->region_count; i++)
		if (s->regions[i].kind == TENON_REGION_CONSTANT)
			memcpy(to + e->places[i], s->constants.data + s->regions[i].data,
			       (size_t)s->regions[i].size);
}

static int write_mapped(const struct streams *e, struct tenon_memory *m)
{
	void *mapped;
	int err = tenon_memory_map(m, TENON_MAP_WRITE | TENON_MAP_DISCARD, 0, m->size, &mapped);

	if (err)
		return err;
	copy_constants(e, mapped);
	return tenon_memory_unmap(m, mapped, TENON_MAP_WRITE | TENON_MAP_DISCARD, 0, m->size);
}

static int write_by_queue(const struct streams *e, struct tenon_memory *m)
{
	struct tenon_queue *queue = NULL;
	uint8_t *bytes = calloc(1, (size_t)m->size);
	int err;

	if (!bytes)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " bytes of constants",
				   m->size);
	copy_constants(e, bytes);
	err = tenon_queue_create(m->device, &queue);
	err = err ? err : tenon_queue_write(queue, m, 0, bytes, m->size, NULL);
	err = err ? err : tenon_queue_sync(queue, tenon_deadline(UPLOAD_NS));
	/* dropping the queue waits for the write, which reads the bytes */
	tenon_object_unref(queue);
	free(bytes);
	return err;
}

static int upload(struct streams *e)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.bytes = e->constant_size,
						.usage = TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP,
						.heap = -1 };
	struct tenon_memory *m = NULL;
	int err;

	if (!e->constant_size || e->constants)
		return 0;
	err = tenon_memory_alloc(e->base.device, &request, &m);
	if (err == -TENON_E_UNSUPPORTED) {
		tenon_error_clear();
		request.usage = TENON_MEMORY_DEFAULT;
		err = tenon_memory_alloc(e->base.device, &request, &m);
		err = err ? err : write_by_queue(e, m);
	} else if (!err) {
		err = write_mapped(e, m);
	}
	if (err) {
		tenon_object_unref(m);
		return tenon_error_in(err, "constants");
	}
	e->constants = m;
	return 0;
}

/* ---- kernels */

static int keep_relocations(const struct cmdstream *s, struct command *k)
{
	size_t i, count = k->kernel.relocation_count;

	k->relocations = calloc(count + 1, sizeof(k->relocations[0]));
	if (!k->relocations)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu relocations", count);
	for (i = 0; i < count; i++) {
		k->relocations[i] = cmdstream_relocation(s, k->kernel.first + i);
		k->relocations[i].offset -= k->kernel.offset;
	}
	return 0;
}

int cmdstream_executable_kernel(struct tenon_executable *executable, size_t index,
				struct tenon_kernel **out)
{
	struct streams *e = (struct streams *)executable;
	struct command *k = &e->commands[index];
	int err;

	err = cmdstream_kernel(&e->stream, index, &k->kernel);
	err = err ? err : cmdstream_check(&e->stream, e->target, &k->kernel, &k->used);
	err = err ? err : upload(e);
	if (!err && !k->relocations)
		err = keep_relocations(&e->stream, k);
	if (err)
		return err;
	k->base.executable = executable;
	k->base.info = &executable->program->kernels[index];
	*out = &k->base;
	return 0;
}

bool cmdstream_executable_argument(const struct tenon_kernel *kernel, size_t index,
				   struct tenon_argument_use *out)
{
	const struct streams *e = (const struct streams *)kernel->executable;
	const struct command *k = command_of(kernel);
	const struct tenon_cmdstream_region *r;

	r = &e->stream.regions[k->kernel.arguments[index]];
	out->size = r->size;
	out->reads = r->access & TENON_REGION_READ;
	out->writes = r->access & TENON_REGION_WRITE;
	return true;
}

/* ---- launches */

/*
 * Move a queue's scratch memory to the front of the list, or allocate it and drop the last of a
 * full list.
 */
static int take_scratch(struct streams *e, const struct tenon_queue *queue,
			struct tenon_memory **out)
{
	const struct tenon_memory_request request = { .size = sizeof(request),
						      .bytes = e->scratch_size,
						      .usage = TENON_MEMORY_DEFAULT,
						      .heap = -1 };
	struct tenon_memory *oldest = NULL;
	struct scratch found = { queue, NULL };
	size_t i = 0;
	int err = 0;

	pthread_mutex_lock(&e->lock);
	while (i < SCRATCH_MOST - 1 && e->scratch[i].memory && e->scratch[i].queue != queue)
		i++;
	if (e->scratch[i].queue == queue && e->scratch[i].memory) {
		found = e->scratch[i];
	} else {
		err = tenon_memory_alloc(e->base.device, &request, &found.memory);
		oldest = err ? NULL : e->scratch[i].memory;
	}
	if (!err) {
		memmove(&e->scratch[1], &e->scratch[0], i * sizeof(e->scratch[0]));
		e->scratch[0] = found;
	}
	pthread_mutex_unlock(&e->lock);
	tenon_object_unref(oldest);
	*out = found.memory;
	return err ? tenon_error_in(err, "scratch memory") : 0;
}

static int bind_argument(const struct command *k, const struct tenon_dispatch *d, uint32_t index,
			 struct cmdstream_binding *out)
{
	const struct streams *e = (const struct streams *)k->base.executable;
	uint32_t region = k->kernel.arguments[index];
	const struct tenon_cmdstream_region *r = &e->stream.regions[region];
	struct tenon_memory *m;
	int err;

	err = tenon_memory_of_data(e->base.device, (void *)(uintptr_t)d->arguments[index],
				   &out->rooms[index], &m);
	if (!err && m->size < r->size)
		err = tenon_error(-TENON_E_VALUE,
				  "%" PRIu64
				  " bytes of memory for region %u (%s), which has %" PRIu64,
				  m->size, region, cmdstream_region_name(r->kind), r->size);
	if (err)
		return tenon_error_in(err, "%.*s: argument %u", (int)k->kernel.name.size,
				      k->kernel.name.data, index);
	out->regions[region] = tenon_range(m, 0);
	return 0;
}

int cmdstream_bind(struct tenon_queue *queue, const struct tenon_dispatch *d,
		   struct cmdstream_binding *out)
{
	const struct command *k = command_of(d->kernel);
	struct streams *e = (struct streams *)k->base.executable;
	struct tenon_memory *scratch = NULL;
	uint32_t i;
	int err = 0;

	out->used = k->used;
	for (i = 0; i < k->kernel.argument_count && !err; i++)
		err = bind_argument(k, d, i, out);
	if (!err && e->scratch_size)
		err = take_scratch(e, queue, &scratch);
	for (i = 0; i < e->stream.region_count && !err; i++) {
		if (e->stream.regions[i].kind == TENON_REGION_SCRATCH)
			out->regions[i] = tenon_range(scratch, e->places[i]);
		if (e->stream.regions[i].kind == TENON_REGION_CONSTANT)
			out->regions[i] = tenon_range(e->constants, e->places[i]);
	}
	return err;
}

const struct tenon_cmdstream_region *cmdstream_executable_region(const struct tenon_kernel *kernel,
								 uint32_t index)
{
	const struct streams *e = (const struct streams *)kernel->executable;

	return &e->stream.regions[index];
}

size_t cmdstream_code_size(const struct tenon_kernel *kernel)
{
	return (size_t)command_of(kernel)->kernel.size;
}

static int check_addresses(const struct command *k, const uint64_t *addresses)
{
	const struct streams *e = (const struct streams *)k->base.executable;
	uint32_t i;

	for (i = 0; i < e->stream.region_count; i++) {
		const struct tenon_cmdstream_region *r = &e->stream.regions[i];

		if (k->used >> i & 1 && addresses[i] & (r->alignment - 1))
			return tenon_error(
				-TENON_E_VALUE,
				"%.*s: region %u (%s) lies at 0x%" PRIx64
				", which is no multiple of %u; give it memory of its own",
				(int)k->kernel.name.size, k->kernel.name.data, i,
				cmdstream_region_name(r->kind), addresses[i], r->alignment);
	}
	return 0;
}

int cmdstream_patch(const struct tenon_kernel *kernel, const uint64_t *addresses, uint8_t *code)
{
	const struct command *k = command_of(kernel);
	const struct streams *e = (const struct streams *)kernel->executable;
	uint64_t address;
	size_t i, b;
	int err = check_addresses(k, addresses);

	if (err)
		return err;
	memcpy(code, e->stream.code.data + k->kernel.offset, (size_t)k->kernel.size);
	for (i = 0; i < k->kernel.relocation_count; i++) {
		const struct tenon_cmdstream_relocation *r = &k->relocations[i];

		if (__builtin_add_overflow(addresses[r->region], r->addend, &address) ||
		    (r->width == 4 && address > UINT32_MAX))
			return tenon_error(-TENON_E_VALUE,
					   "%.*s: region %u lies at 0x%" PRIx64
					   ", which does not fit in %u bytes",
					   (int)k->kernel.name.size, k->kernel.name.data, r->region,
					   addresses[r->region], r->width);
		for (b = 0; b < r->width; b++)
			code[r->offset + b] = (uint8_t)(address >> 8 * b);
	}
	return 0;
}
