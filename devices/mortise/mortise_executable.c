/* SPDX-License-Identifier: MIT */
/*
 * Programs: the first request for a kernel places and relocates its image, once for each
 * executable.
 */
#include "devices/mortise/mortise_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tenon/error.h>
#include <tenon/string.h>
#include <tenon/timeline.h>

#include "devices/mortise/mortise_payload.h"
#include "devices/mortise/mortise_stream.h"

/* pages of this process, for code that it runs itself */
#define PAGE UINT64_C(4096)

/* how long a busy ring may take to have room for one packet */
#define ROOM_NS UINT64_C(10000000000)

struct mortise_kernel {
	struct tenon_kernel base;
	uint64_t function;
};

/**
 * struct mortise_executable - device code on a device
 * @device: as base.device, also while the code waits for its last launch
 * @block: where the image is; NULL before the first kernel
 * @image: its headers, once it is placed
 */
struct mortise_executable {
	struct tenon_executable base;
	struct mortise_device *device;
	struct first_fit_piece *block;
	struct mortise_elf image;
	struct mortise_kernel kernels[];
};

static int mortise_create(struct tenon_device *device, const struct tenon_program *program,
			  struct tenon_executable **out)
{
	struct mortise_executable *e;
	int err;

#ifdef CONFIG_CMDSTREAM
	if (cmdstream_runs(program))
		return cmdstream_executable_create(device, program, &mortise_target, out);
#endif
	if (!tenon_slice_equal(program->format, tenon_slice_of("mortise")))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "mortise runs programs of format \"mortise\", not \"%.*s\"",
				   (int)program->format.size, program->format.data);
	e = calloc(1, sizeof(*e) + program->kernel_count * sizeof(e->kernels[0]));
	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable");
	e->device = mortise_device_of(device);
	err = tenon_executable_init(&e->base, device, program);
	if (err) {
		free(e);
		return err;
	}
	*out = &e->base;
	return 0;
}

/* ---- code that this process runs: the simulator's */

static bool is_here(const struct mortise_device *d)
{
	return d->address == (uintptr_t)d->window;
}

static void make_data(const struct mortise_device *d, const struct first_fit_piece *block)
{
	if (is_here(d))
		mprotect(d->window + block->offset, (size_t)block->size, PROT_READ | PROT_WRITE);
}

static uint64_t page_down(uint64_t address)
{
	return address & ~(PAGE - 1);
}

/* Data in the pages of code would make them writable. */
static int check_apart(const struct mortise_elf *elf, const struct mortise_segment *code)
{
	uint64_t end = page_down(code->address + code->size + PAGE - 1);
	uint32_t i;

	for (i = 0; i < elf->segment_count; i++) {
		const struct mortise_segment *s = &elf->segments[i];

		if ((s->flags & ELF_SEGMENT_WRITE) && s->address < end &&
		    s->address + s->size > page_down(code->address))
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "%s: code and data share a page; link with -z "
					   "max-page-size=4096 and firmware/kernels/kernel.ld",
					   elf->file.path);
	}
	return 0;
}

static int make_code(const struct mortise_device *d, const struct mortise_elf *elf,
		     const struct first_fit_piece *block)
{
	uint8_t *image = d->window + block->offset, *from;
	uint32_t i;
	int err;

	for (i = 0; is_here(d) && i < elf->segment_count; i++) {
		const struct mortise_segment *s = &elf->segments[i];

		if (!(s->flags & ELF_SEGMENT_EXECUTE))
			continue;
		err = check_apart(elf, s);
		if (err)
			return err;
		from = image + (page_down(s->address) - elf->address);
		if (mprotect(from, (size_t)(s->address + s->size - page_down(s->address)),
			     PROT_READ | PROT_EXEC))
			return tenon_error(-TENON_E_IO, "%s: code cannot be made executable: %s",
					   elf->file.path, strerror(errno));
		__builtin___clear_cache((char *)from, (char *)from + s->size);
	}
	return 0;
}

/* ---- placing */

/* Emit a packet; waits for room. */
static int emit(struct mortise_device *d, const void *packet, size_t size, uint64_t *sequence)
{
	uint64_t completed, end = tenon_deadline(ROOM_NS);
	int err;

	for (;;) {
		pthread_mutex_lock(&d->lock);
		err = mortise_emit(d, packet, size, sequence);
		if (err == -TENON_E_TIMEOUT && tenon_now() < end)
			err = ring_completed(d->ring, &completed) ? -TENON_E_TIMEOUT : 1;
		pthread_mutex_unlock(&d->lock);
		if (err <= 0)
			return err;
		if (ring_wait(d->ring, completed + 1, end))
			tenon_error_clear();
	}
}

/* The device sees code behind a barrier. */
static int emit_barrier(struct mortise_device *d)
{
	const struct mortise_header barrier = { .opcode = MORTISE_OP_BARRIER };
	uint64_t sequence;

	return emit(d, &barrier, sizeof(barrier), &sequence);
}

/*
 * Let the device copy its code to its place: an emulator does not notice host writes to code that
 * has run, and a core with caches sees only its own writes.
 */
static int upload(struct mortise_executable *e)
{
	struct mortise_device *d = e->device;
	struct mortise_copy copy = { .header.opcode = MORTISE_OP_COPY, .size = e->image.size };
	struct first_fit_piece *staging;
	uint64_t sequence;
	int err;

	err = mortise_heap_take(&d->heap, e->image.size, e->image.align, &staging);
	if (err)
		return err;
	copy.from = d->address + staging->offset;
	copy.to = d->address + e->block->offset;
	err = mortise_elf_place(&e->image, copy.to, d->window + staging->offset);
	if (!err)
		err = emit(d, &copy, sizeof(copy), &sequence);
	if (!err) {
		err = ring_wait(d->ring, sequence, tenon_deadline(ROOM_NS));
		/* after a timeout the copy may still run: the device keeps the memory */
		if (err)
			return err == -TENON_E_TIMEOUT ? err : mortise_lose(d, err);
	}
	mortise_heap_give(&d->heap, staging);
	return err;
}

static int place(struct mortise_executable *e)
{
	struct mortise_device *d = e->device;
	const struct tenon_program *program = e->base.program;
	uint64_t align, size;
	int err;

	if (!d->runs_code)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s: %s runs no loaded code (its features lack \"call\"). Compile the "
			"model to a command stream, or use a board with a core",
			program->label, d->base.properties->name);
	err = mortise_payload_image(program->code, program->label, d->machine,
				    d->address_bits == 64, &e->image);
	if (err)
		return err;
	align = e->image.align;
	size = e->image.size;
	if (is_here(d)) {
		align = align < PAGE ? PAGE : align;
		size = page_down(size + PAGE - 1);
	}
	err = mortise_heap_take(&d->code, size, align, &e->block);
	if (err)
		return tenon_error_in(err, "code of %s", program->label);
	if (is_here(d)) {
		err = mortise_elf_place(&e->image, d->address + e->block->offset,
					d->window + e->block->offset);
		if (!err)
			err = make_code(d, &e->image, e->block);
	} else {
		err = upload(e);
	}
	if (!err)
		err = emit_barrier(d);
	if (err) {
		make_data(d, e->block);
		mortise_heap_give(&d->code, e->block);
		e->block = NULL;
	}
	return err;
}

static uint32_t count_words(struct tenon_slice text)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < text.size; i++)
		count += text.data[i] != ' ' && (!i || text.data[i - 1] == ' ');
	return count;
}

static int find_function(const struct mortise_executable *e, const struct tenon_kernel_info *info,
			 uint64_t *function)
{
	struct mortise_elf_kernel k;
	uint32_t i;
	int err;

	for (i = 0; i < e->image.entry_count; i++) {
		err = mortise_elf_kernel(&e->image, i, &k);
		if (err)
			return err;
		if (!tenon_slice_equal(k.name, info->name))
			continue;
		if (count_words(k.types) != info->argument_count)
			return tenon_error(
				-TENON_E_FORMAT,
				"the image's kernel takes %u arguments, the payload says %u",
				count_words(k.types), info->argument_count);
		*function = k.function - e->image.address + e->device->address + e->block->offset;
		return 0;
	}
	return tenon_error(-TENON_E_NOT_FOUND, "the image has no such kernel");
}

static int mortise_kernel(struct tenon_executable *executable, size_t index,
			  struct tenon_kernel **out)
{
	struct mortise_executable *e = (struct mortise_executable *)executable;
	struct mortise_kernel *k = &e->kernels[index];
	int err;

#ifdef CONFIG_CMDSTREAM
	if (cmdstream_runs(executable->program))
		return cmdstream_executable_kernel(executable, index, out);
#endif
	k->base.executable = executable;
	k->base.info = &executable->program->kernels[index];
	if (k->base.info->argument_count >= MORTISE_ARGUMENT_COUNT)
		return tenon_error(-TENON_E_UNSUPPORTED, "%u arguments; mortise passes %u at most",
				   k->base.info->argument_count, MORTISE_ARGUMENT_COUNT - 1);
	err = e->block ? 0 : place(e);
	if (!err)
		err = find_function(e, k->base.info, &k->function);
	if (err)
		return err;
	*out = &k->base;
	return 0;
}

static void release(void *item)
{
	struct mortise_executable *e = item;

	if (e->block) {
		make_data(e->device, e->block);
		mortise_heap_give(&e->device->code, e->block);
	}
	free(e);
}

static void mortise_destroy(struct tenon_executable *executable)
{
	struct tenon_device *device = executable->device;

#ifdef CONFIG_CMDSTREAM
	if (cmdstream_runs(executable->program)) {
		cmdstream_executable_destroy(executable);
		return;
	}
#endif
	/* free now: a retired item would reference the device, and the device the item */
	tenon_executable_fini(executable);
	tenon_device_retire(device, release, executable);
}

/* ---- launches */

static void put_memory(const struct mortise_device *d, struct mortise_argument *a, uint64_t slot)
{
	struct tenon_memory *memory = (struct tenon_memory *)(uintptr_t)slot;
	struct tenon_range range;

	if (!memory)
		return;
	range = tenon_range(memory, 0);
	a->value = d->address + mortise_offset(&range);
	a->size = memory->size < UINT32_MAX ? (uint32_t)memory->size : UINT32_MAX;
	a->access = MORTISE_READ | MORTISE_WRITE;
}

int mortise_call_packet(struct mortise_device *d, const struct tenon_dispatch *dispatch,
			struct mortise_job *job)
{
	const struct mortise_kernel *k = (const struct mortise_kernel *)dispatch->kernel;
	const struct tenon_kernel_info *info = k->base.info;
	uint32_t i, count = info->argument_count + !!(info->flags & TENON_KERNEL_SHARED);
	struct mortise_call *p;
	int err;

	if (dispatch->shared > MORTISE_GROUP_MEMORY)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%u bytes of shared memory; mortise has %u for a group",
				   dispatch->shared, MORTISE_GROUP_MEMORY);
	err = mortise_job_room(job, sizeof(*p) + count * sizeof(p->arguments[0]));
	if (err)
		return err;
	p = job->packet;
	p->header.opcode = MORTISE_OP_CALL;
	p->function = k->function;
	memcpy(p->groups, dispatch->grid, sizeof(p->groups));
	memcpy(p->threads, dispatch->block, sizeof(p->threads));
	p->count = count;
	for (i = 0; i < info->argument_count; i++) {
		if (info->arguments[i].kind == TENON_ARGUMENT_MEMORY)
			put_memory(d, &p->arguments[i], dispatch->arguments[i]);
		else
			p->arguments[i].value = dispatch->arguments[i];
	}
	if (i < count) {
		p->arguments[i].value = d->address + d->group_memory->offset;
		p->arguments[i].size = MORTISE_GROUP_MEMORY;
		p->arguments[i].access = MORTISE_READ | MORTISE_WRITE;
	}
	return 0;
}

#ifdef CONFIG_CMDSTREAM
static bool mortise_argument(const struct tenon_kernel *kernel, size_t index,
			     struct tenon_argument_use *out)
{
	return cmdstream_runs(kernel->executable->program) &&
	       cmdstream_executable_argument(kernel, index, out);
}
#endif

const struct tenon_executable_ops mortise_executable_ops = {
	.size = sizeof(mortise_executable_ops),
	.create = mortise_create,
	.destroy = mortise_destroy,
	.kernel = mortise_kernel,
#ifdef CONFIG_CMDSTREAM
	.argument = mortise_argument,
#endif
};
