/* SPDX-License-Identifier: MIT */
/* Bind the memory of a call to the regions of a network, or copy it there and back. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_runner.h"
#include "devices/mapped/inline_work.h"
#include "lib/brief_errors.h"
#include "lib/heap.h"

/**
 * struct ethosu_executable - a program on a device; its only kernel is the command stream
 * @base: for the core
 * @kernel: for the core
 * @contents: of the file
 * @arguments: of a call
 * @runner: of the device
 * @lock: one run at a time uses the memory
 * @bases: where the CPU has the memory of the regions; made with the kernel
 * @made: the network, of the runner
 * @can_place: regions that may be memory of a call
 */
struct ethosu_executable {
	struct tenon_executable base;
	struct tenon_kernel kernel;
	struct ethosu_container contents;
	struct ethosu_arguments arguments;
	const struct ethosu_runner *runner;
	pthread_mutex_t lock;
	uint8_t *bases[ETHOSU_REGIONS];
	void *made;
	bool can_place[ETHOSU_REGIONS];
};

static int check_program(const struct tenon_program *p)
{
	if (!tenon_slice_equal(p->kind, tenon_slice_of("ethos-u")) || p->kernel_count != 1)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"ethosu runs programs of kind \"ethos-u\" with one kernel, and not "
			"those of \"%.*s\"",
			(int)p->kind.size, p->kind.data);
	if (!tenon_slice_equal(p->format, tenon_slice_of("cop")) &&
	    !tenon_slice_equal(p->format, tenon_slice_of("npz")) &&
	    !tenon_slice_equal(p->format, tenon_slice_of("parts")))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"ethosu runs programs of format \"cop\", \"npz\" and \"parts\", and "
			"not of "
			"\"%.*s\"",
			(int)p->format.size, p->format.data);
	return 0;
}

static int create(struct tenon_device *device, const struct tenon_program *program,
		  struct tenon_executable **out)
{
	struct ethosu_executable *n;
	int err;

	err = check_program(program);
	if (err)
		return err;
	n = heap_zeroed(1, sizeof(*n), "network of the NPU");
	if (!n)
		return tenon_error(-TENON_E_NOMEM, "no memory for an executable");
	err = tenon_executable_init(&n->base, device, program);
	if (err) {
		heap_free(n);
		return err;
	}
	n->runner = ((const struct ethosu_device *)device)->transport->runner;
	pthread_mutex_init(&n->lock, NULL);
	*out = &n->base;
	return 0;
}

static void release(void *item)
{
	struct ethosu_executable *n = item;

	if (n->made)
		n->runner->destroy(n->made);
	pthread_mutex_destroy(&n->lock);
	heap_free(n);
}

static void destroy(struct tenon_executable *executable)
{
	struct tenon_device *device = executable->device;

	tenon_executable_fini(executable);
	tenon_device_retire(device, release, executable);
}

/* ---- kernels */

static int kernel(struct tenon_executable *executable, size_t index, struct tenon_kernel **out)
{
	struct ethosu_executable *n = (struct ethosu_executable *)executable;
	const struct tenon_program *p = executable->program;
	struct tenon_cursor c = tenon_cursor_of(p->code.data, p->code.size, p->label, 0);
	const struct ethosu_plan plan = { (struct ethosu_device *)executable->device, p->label,
					  &n->contents, &n->arguments };
	unsigned int i;
	int err;

	err = ethosu_container_read(&c, &n->contents);
	if (!err)
		err = ethosu_container_give(&n->contents, p->label, p->kernels[index].code);
	if (!err)
		err = ethosu_arguments_of(&n->contents, p->label, &n->arguments);
	if (!err && n->contents.given_region < ETHOSU_REGIONS && !n->runner->place)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: this device copies tensors, and cannot use memory of the "
				  "program where it is",
				  p->label);
	if (!err)
		err = n->runner->make(&plan, n->bases, &n->made);
	if (err)
		return err;
	for (i = 0; i < ETHOSU_REGIONS; i++)
		n->can_place[i] =
			n->runner->place && (i == n->contents.given_region ||
					     !ethosu_arguments_in_place(&n->arguments, i));
	n->kernel.executable = executable;
	n->kernel.info = &p->kernels[index];
	*out = &n->kernel;
	return 0;
}

static bool argument(const struct tenon_kernel *k, size_t index, struct tenon_argument_use *out)
{
	const struct ethosu_executable *n = (const struct ethosu_executable *)k->executable;
	const struct ethosu_argument *a = &n->arguments.items[index];

	*out = (struct tenon_argument_use){ a->bytes, a->reads, a->writes };
	return true;
}

/* ---- calls: memory that is used where it is */

/* The memory of an argument, if the region can begin where that does. */
static struct ethosu_store *store_of(const struct ethosu_executable *n,
				     const struct tenon_dispatch *d, size_t index)
{
	struct tenon_memory *m = (struct tenon_memory *)(uintptr_t)d->arguments[index];
	struct ethosu_store *store;
	uint64_t offset = 0;

	store = (struct ethosu_store *)tenon_memory_root(m, &offset);
	return store->own && offset == n->arguments.items[index].offset ? store : NULL;
}

static bool is_taken(struct ethosu_store *const stores[ETHOSU_REGIONS], unsigned int region)
{
	unsigned int i;

	for (i = 0; i < region; i++)
		if (stores[i] && stores[i]->own == stores[region]->own)
			return true;
	return false;
}

/* The one memory of all arguments in a region; NULL if there is none. */
static struct ethosu_store *store_of_region(const struct ethosu_executable *n,
					    const struct tenon_dispatch *d, unsigned int region)
{
	struct ethosu_store *store, *found = NULL;
	size_t i;

	for (i = 0; i < n->arguments.count; i++) {
		if (n->arguments.items[i].region != region || !n->arguments.items[i].bytes)
			continue;
		store = store_of(n, d, i);
		if (!store || (found && found != store))
			return NULL;
		found = store;
	}
	return found;
}

/* The network has its own memory for all others: arguments are copied there and back. */
static void find_stores(const struct ethosu_executable *n, const struct tenon_dispatch *d,
			struct ethosu_store *out[ETHOSU_REGIONS])
{
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		out[i] = n->can_place[i] ? store_of_region(n, d, i) : NULL;
		if (out[i] && is_taken(out, i))
			out[i] = NULL;
	}
}

/* ---- calls */

static int find_bytes(const struct ethosu_executable *n, const struct tenon_dispatch *d,
		      size_t index, uint8_t **out)
{
	struct tenon_memory *m = (struct tenon_memory *)(uintptr_t)d->arguments[index];
	const struct tenon_range range = tenon_range(m, 0);

	*out = inline_address(&range);
	if (m->size >= n->arguments.items[index].bytes)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "main: argument %zu has %" PRIu64 " bytes, and needs %" PRIu64, index,
			   m->size, n->arguments.items[index].bytes);
}

int ethosu_prepare(const struct tenon_dispatch *d, struct ethosu_launch *out)
{
	struct ethosu_executable *n = (struct ethosu_executable *)d->kernel->executable;
	size_t i;
	int err = 0;

	out->executable = n;
	for (i = 0; i < n->arguments.count && !err; i++)
		err = find_bytes(n, d, i, &out->bytes[i]);
	if (!err)
		find_stores(n, d, out->stores);
	return err;
}

/* Runs use all of a region that the program gives, so it cannot be the network's own. */
static int check_given(const struct ethosu_executable *n, struct ethosu_store *const *placed)
{
	const uint32_t region = n->contents.given_region;

	if (region == ETHOSU_REGIONS || placed[region])
		return 0;
	return tenon_error(
		-TENON_E_VALUE,
		"%s: the tensors of region %u are not at their places in one piece of the "
		"device's memory, of at least %" PRIu64 " bytes",
		n->base.program->label, region, n->contents.sizes[region]);
}

static int copy(const struct ethosu_executable *n, void *to, const void *from, size_t size)
{
	struct ethosu_device *d = (struct ethosu_device *)n->base.device;

	__atomic_fetch_add(&d->copied, size, __ATOMIC_RELAXED);
	if (n->runner->copy)
		return n->runner->copy(n->made, to, from, size);
	memcpy(to, from, size);
	return 0;
}

/* @placed: regions that are memory of arguments */
static int copy_arguments(const struct ethosu_launch *l, struct ethosu_store *const *placed,
			  bool back)
{
	const struct ethosu_executable *n = l->executable;
	const struct ethosu_argument *a;
	uint8_t *region;
	size_t i;
	int err = 0;

	for (i = 0; i < n->arguments.count && !err; i++) {
		a = &n->arguments.items[i];
		if (!a->bytes || placed[a->region] || (back ? !a->writes : !a->reads))
			continue;
		region = n->bases[a->region] + a->offset;
		err = copy(n, back ? l->bytes[i] : region, back ? region : l->bytes[i],
			   (size_t)a->bytes);
	}
	return err;
}

int ethosu_run(const struct ethosu_launch *l)
{
	struct ethosu_executable *n = l->executable;
	struct ethosu_store *placed[ETHOSU_REGIONS];
	int err = 0;

	memcpy(placed, l->stores, sizeof(placed));
	pthread_mutex_lock(&n->lock);
	if (n->runner->place)
		err = n->runner->place(n->made, placed, n->bases);
	if (!err)
		err = check_given(n, placed);
	if (!err)
		err = copy_arguments(l, placed, false);
	if (!err)
		err = n->runner->run(n->made);
	if (!err)
		err = copy_arguments(l, placed, true);
	pthread_mutex_unlock(&n->lock);
	return err;
}

const struct tenon_executable_ops ethosu_executable_ops = {
	.size = sizeof(ethosu_executable_ops),
	.create = create,
	.destroy = destroy,
	.kernel = kernel,
	.argument = argument,
};
