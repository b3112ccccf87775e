/* SPDX-License-Identifier: MIT */
/* Open models in memory that the caller gives, and measure how much they need. */
#include "runtime/model/model_regions.h"

#include <sys/mman.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/module_kind.h>
#include <tenon/regions.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "lib/options.h"
#include "runtime/core/parallel_alone.h"
#include "runtime/core/workspace.h"
#include "runtime/model/tensor_place.h"

#define TRY_FIRST     ((size_t)256 * 1024) /* bytes of each sort, when a model is measured */
#define TRY_MOST      (SIZE_MAX / 8)
#define RUNS_MEASURED 3

static const char *const sort_names[HEAP_SORTS] = { "persistent", "planned", "temporary" };

_Static_assert(TENON_SORTS == HEAP_SORTS && TENON_REGION_ALIGN == HEAP_ALIGN,
	       "the public names are those of heaps");

/* ---- the memory of calls */

void model_enter(const struct tenon_model *model, struct model_scope *before)
{
	before->workspace = workspace_enter(model->workspace);
	before->alone = parallel_alone(true);
}

void model_leave(const struct model_scope *before)
{
	parallel_alone(before->alone);
	workspace_enter(before->workspace);
}

void model_workspace_close(struct tenon_model *model)
{
	if (model->heap)
		workspace_destroy(model->workspace);
	model->workspace = NULL;
}

/* Test for an error that a larger region would have prevented. @sort: the first that was too small */
static bool lacks(struct heap *heap, int err, enum heap_sort *sort, struct heap_use *use)
{
	int i;

	for (i = 0; err == -TENON_E_NOMEM && i < HEAP_SORTS; i++) {
		heap_use(heap, (enum heap_sort)i, use);
		*sort = (enum heap_sort)i;
		if (use->wanted)
			return true;
	}
	return false;
}

int model_lacks(const struct tenon_model *model, int err)
{
	enum heap_sort sort;
	struct heap_use use;

	if (!lacks(model->heap, err, &sort, &use))
		return err;
	return tenon_error_in(err, "%s memory: %zu bytes are given, at least %zu needed",
			      sort_names[sort], use.size, use.wanted);
}

/* ---- opening */

/* Describe an input. No dimension of it may vary; one whose type the code does not tell has none that matters. */
static int fixed_input(struct tenon_model *model, size_t index, struct tenon_port *port)
{
	int32_t k;
	int err;

	err = tenon_model_input(model, index, port);
	if (err)
		return err;
	for (k = 0; k < port->ndim; k++)
		if (port->shape[k] < 0)
			return tenon_error(-TENON_E_VALUE,
					   "input %zu (\"%.*s\") has no bound in dimension %d",
					   index, (int)port->name.size, port->name.data, k);
	return 0;
}

/* Check that all runs take the same memory. */
static int check_bounds(struct tenon_model *model)
{
	struct tenon_port port;
	size_t i;
	int err = 0;

	if (!model->ops->bounded)
		return 0;
	for (i = 0; !err && i < tenon_model_input_count(model); i++)
		err = fixed_input(model, i, &port);
	return err ? err : model->ops->bounded(model);
}

/* A heap that a failed opening leaves is closed by the caller. */
static int open_in(struct tenon_module *root, const struct executor *executor,
		   const struct tenon_model_options *o, struct heap *heap, struct tenon_model **out)
{
	struct heap *before = heap_enter(heap);
	struct tenon_port output;
	size_t i;
	int err;

	err = model_create(root, executor, o, out);
	if (!err) {
		(*out)->workspace = workspace_create(heap);
		if (!(*out)->workspace)
			err = tenon_error(-TENON_E_NOMEM, "no memory for a workspace");
	}
	if (!err)
		err = check_bounds(*out);
	heap_enter(before);
	/* Some executors make the names of outputs when they are asked for them. */
	for (i = 0; !err && i < tenon_model_output_count(*out); i++)
		err = tenon_model_output(*out, i, &output);
	return err;
}

/* Types of devices beyond those of DLPack are named by their backend. */
static int refuse_device(DLDevice id)
{
	struct tenon_device *device = NULL;
	int err;

	if (ERROR_MESSAGES && tenon_device_get(id, &device))
		tenon_error_clear();
	err = tenon_error(-TENON_E_UNSUPPORTED,
			  "device %s:%d: its driver allocates memory on its own. In memory of the "
			  "caller models run on cpu:0",
			  device ? device->backend->name
				 : tenon_device_name((int32_t)id.device_type),
			  id.device_id);
	tenon_object_unref(device);
	return err;
}

/* Refuse a device on which models of an executor do not run in regions. */
static int check_device(const struct executor *executor, DLDevice id)
{
	struct tenon_device *device;
	bool steady;
	int err;

	if (place_is_host(id) || (PLACE_HAS_DEVICES && executor->devices_in_regions))
		return 0;
	if (PLACE_HAS_DEVICES && executor->shares_planned) {
		err = tenon_device_get(id, &device);
		if (err)
			return err;
		steady = tenon_device_properties(device)->flags & TENON_DEVICE_STEADY;
		tenon_object_unref(device);
		if (steady)
			return 0;
	}
	return refuse_device(id);
}

static int check(struct tenon_module *root, const struct tenon_model_options *options,
		 struct tenon_model_options *o, const struct executor **executor)
{
	size_t i;
	int err;

	err = options_read(options, o, sizeof(*o));
	if (!err)
		err = model_executor(root, o, executor);
	if (err)
		return err;
	if (o->describe)
		return tenon_error(-TENON_E_USAGE,
				   "a model that is only described needs no memory");
	for (i = 0; i < o->device_count && !err; i++)
		err = check_device(*executor, o->devices[i]);
	if (!err && !(*executor)->in_regions)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "models of kind \"%.*s\" allocate memory on their own",
				  (int)root->kind.size, root->kind.data);
	return err;
}

/* Only planned memory may be a dma-buf. */
static int check_dmabufs(const struct tenon_module *root, const struct executor *executor,
			 const struct tenon_regions *r)
{
	int i;

	for (i = 0; i < HEAP_SORTS; i++) {
		if (!r->dmabuf[i])
			continue;
		if (i != HEAP_PLANNED)
			return tenon_error(
				-TENON_E_UNSUPPORTED,
				"%s memory is a dma-buf: devices use planned memory alone; "
				"leave its dmabuf out",
				sort_names[i]);
		if (!executor->shares_planned)
			return tenon_error(
				-TENON_E_UNSUPPORTED,
				"planned memory is a dma-buf, and models of kind \"%.*s\" "
				"are for cpu:0; leave its dmabuf out",
				(int)root->kind.size, root->kind.data);
		/* the device's offsets count from the first byte */
		if ((uintptr_t)r->region[i].data % TENON_REGION_ALIGN)
			return tenon_error(
				-TENON_E_VALUE,
				"planned memory is a dma-buf at %p: map it at a multiple of %d",
				r->region[i].data, TENON_REGION_ALIGN);
	}
	return 0;
}

/* Say what each sort of memory needs; the workspace of compiled code is known after a run only. */
static int too_small(struct tenon_module *root, const struct tenon_model_options *o,
		     const struct heap_region *given, int err)
{
	struct model_devices devices;
	size_t peak[HEAP_SORTS];

	if (!ERROR_MESSAGES || model_measure(root, o, false, NULL, peak, &devices))
		return err;
	if (given[HEAP_PLANNED].dmabuf) {
		peak[HEAP_PLANNED] = (size_t)devices.shared;
		peak[HEAP_PERSISTENT] += TENON_REGION_DMABUF;
	}
	return tenon_error(err,
			   "the memory is too small: needed are %zu bytes of persistent memory "
			   "(%zu given), %zu of planned memory (%zu given), at least %zu of "
			   "temporary memory (%zu given), each from a multiple of %d",
			   peak[0], given[0].size, peak[1], given[1].size, peak[2], given[2].size,
			   TENON_REGION_ALIGN);
}

int tenon_model_open_in(struct tenon_module *root, const struct tenon_model_options *options,
			const struct tenon_regions *regions, struct tenon_model **out)
{
	struct heap_region given[HEAP_SORTS];
	const struct executor *executor;
	struct tenon_model_options o;
	struct tenon_regions r;
	enum heap_sort sort;
	struct heap_use use;
	struct heap *heap;
	int err, i;

	*out = NULL;
	err = options_read(regions, &r, sizeof(r));
	if (!err)
		err = check(root, options, &o, &executor);
	if (!err)
		err = check_dmabufs(root, executor, &r);
	if (err)
		return err;
	for (i = 0; i < HEAP_SORTS; i++)
		given[i] = (struct heap_region){ r.region[i].data, r.region[i].size, r.dmabuf[i] };
	err = heap_create(given, NULL, &heap);
	if (err)
		return too_small(root, &o, given, err);
	err = open_in(root, executor, &o, heap, out);
	if (!err)
		return 0;
	if (lacks(heap, err, &sort, &use))
		err = too_small(root, &o, given, err);
	if (*out)
		tenon_model_close(*out);
	else
		heap_close(heap);
	*out = NULL;
	return err;
}

/* ---- measuring */

static int zero_input(struct tenon_model *model, size_t index)
{
	struct tenon_value value;
	struct tenon_port port;
	DLTensor zeros;
	size_t bytes;
	int err;

	err = fixed_input(model, index, &port);
	if (!err && (port.ndim < 0 || !port.dtype.bits))
		err = tenon_error(-TENON_E_VALUE,
				  "input %zu (\"%.*s\") has no fixed dtype and shape: set it by "
				  "the parameters of the options",
				  index, (int)port.name.size, port.name.data);
	if (err)
		return err;
	zeros = tenon_dltensor(NULL, (int64_t *)(uintptr_t)port.shape, port.ndim, port.dtype);
	err = tenon_tensor_bytes(&zeros, &bytes);
	if (err)
		return err;
	zeros.data = mmap(NULL, bytes + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (zeros.data == MAP_FAILED)
		return tenon_error(-TENON_E_NOMEM, "no memory for an input of zeros");
	value = tenon_arg_tensor(&zeros);
	err = tenon_model_set_input(model, index, &value);
	munmap(zeros.data, bytes + 1);
	return err;
}

static int run_once(struct tenon_model *model)
{
	struct tenon_value output;
	size_t i;
	int err;

	err = tenon_model_run(model);
	for (i = 0; !err && i < tenon_model_output_count(model); i++) {
		err = tenon_model_output_value(model, i, &output);
		if (!err)
			tenon_value_release(&output);
	}
	return err;
}

/* @unset: for each input, whether it has to be set */
static int run_rounds(struct tenon_model *model, const bool *unset)
{
	size_t i, n = tenon_model_input_count(model);
	int round, err = 0;

	/* An executor that keeps memory between runs may take other memory in the second one. */
	for (round = 0; round < RUNS_MEASURED && !err; round++) {
		for (i = 0; i < n && !err; i++)
			err = unset[i] ? zero_input(model, i) : 0;
		if (!err)
			err = run_once(model);
	}
	return err;
}

static int run_on_zeros(struct tenon_model *model)
{
	size_t i, n = tenon_model_input_count(model);
	bool *unset = mmap(NULL, n + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (unset == MAP_FAILED)
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of %zu inputs", n);
	for (i = 0; i < n; i++)
		unset[i] = !tenon_model_input_is_set(model, i);
	err = run_rounds(model, unset);
	munmap(unset, n + 1);
	return err;
}

static void say(const struct model_watch *watch, enum model_phase phase)
{
	if (watch)
		watch->phase(watch->heap.context, phase);
}

static void unmap(struct heap_region regions[HEAP_SORTS])
{
	int i;

	for (i = 0; i < HEAP_SORTS; i++)
		if (regions[i].data)
			munmap(regions[i].data, regions[i].size);
}

static int map(struct heap_region regions[HEAP_SORTS], const size_t sizes[HEAP_SORTS])
{
	void *data;
	int i;

	memset(regions, 0, HEAP_SORTS * sizeof(*regions));
	for (i = 0; i < HEAP_SORTS; i++) {
		data = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (data == MAP_FAILED) {
			unmap(regions);
			return tenon_error(-TENON_E_NOMEM,
					   "no memory to measure a model: %zu bytes", sizes[i]);
		}
		regions[i] = (struct heap_region){ .data = data, .size = sizes[i] };
	}
	return 0;
}

static void ask_devices(struct tenon_model *model, struct model_devices *out)
{
	const struct model_ops *ops = model->ops;

	out->bytes = ops->device_bytes ? ops->device_bytes(model) : 0;
	out->shared = ops->shared_bytes ? ops->shared_bytes(model) : 0;
}

/* Open and run in regions of these sizes. Enlarges one of @sizes where an error may be for lack of it. */
static int try_sizes(struct tenon_module *root, const struct executor *executor,
		     const struct tenon_model_options *o, bool run, const struct model_watch *watch,
		     size_t sizes[HEAP_SORTS], size_t peak[HEAP_SORTS],
		     struct model_devices *devices, bool *again)
{
	struct heap_region regions[HEAP_SORTS];
	struct tenon_model *model = NULL;
	struct heap *heap;
	enum heap_sort sort;
	struct heap_use use;
	int err, i;

	*again = false;
	err = map(regions, sizes);
	if (err)
		return err;
	say(watch, MODEL_OPENING);
	/* the first sizes have room for it */
	heap_create(regions, watch ? &watch->heap : NULL, &heap);
	err = open_in(root, executor, o, heap, &model);
	say(watch, MODEL_RUNNING);
	if (!err && run)
		err = run_on_zeros(model);
	say(watch, MODEL_CLOSING);
	*again = lacks(heap, err, &sort, &use) && use.wanted < TRY_MOST;
	while (*again && sizes[sort] < use.wanted + HEAP_ALIGN)
		sizes[sort] *= 2;
	for (i = 0; i < HEAP_SORTS; i++) {
		heap_use(heap, (enum heap_sort)i, &use);
		peak[i] = use.peak;
	}
	if (model && devices)
		ask_devices(model, devices);
	if (model)
		tenon_model_close(model);
	else
		heap_close(heap);
	/* An object that another thread or a program's function keeps must stay readable. */
	if (!heap_live(heap))
		unmap(regions);
	return err;
}

int model_measure(struct tenon_module *root, const struct tenon_model_options *options, bool run,
		  const struct model_watch *watch, size_t peak[HEAP_SORTS],
		  struct model_devices *devices)
{
	size_t sizes[HEAP_SORTS] = { TRY_FIRST, TRY_FIRST, TRY_FIRST };
	const struct executor *executor;
	struct tenon_model_options o;
	bool again, ran_out = error_ran_out();
	int err;

	err = check(root, options, &o, &executor);
	if (err)
		return err;
	do {
		err = try_sizes(root, executor, &o, run, watch, sizes, peak, devices, &again);
		if (again) {
			tenon_error_clear();
			error_set_ran_out(ran_out);
			say(watch, MODEL_AGAIN);
		}
	} while (again);
	return err;
}

int tenon_model_need(struct tenon_module *root, const struct tenon_model_options *options,
		     struct tenon_need *out)
{
	size_t peak[HEAP_SORTS], room;
	struct model_devices devices = { 0, 0 };
	struct tenon_need need;
	int err, i;

	err = options_read(out, &need, sizeof(need));
	if (!err)
		err = model_measure(root, options, true, NULL, peak, &devices);
	if (err)
		return err;
	room = out->size < sizeof(need) ? out->size : sizeof(need);
	for (i = 0; i < HEAP_SORTS; i++)
		need.sort[i] = (struct tenon_need_of){ peak[i], TENON_REGION_ALIGN, false };
	need.device = (struct tenon_need_of){ devices.bytes, 1, devices.bytes != 0 };
	need.shared = (struct tenon_need_of){ devices.shared, TENON_REGION_ALIGN, false };
	need.size = room;
	memcpy(out, &need, room);
	return 0;
}
