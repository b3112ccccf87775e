/* SPDX-License-Identifier: MIT */
/* Create slots from the metadata of an ahead-of-time model and lay them out in one arena. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/library/call.h"
#include "runtime/aot/aot.h"
#include "runtime/model/factory.h"

void aot_destroy(struct tenon_model *m)
{
	struct aot_model *a = (struct aot_model *)m;
	size_t i;

	for (i = 0; a->slots && i < a->count; i++) {
		tenon_object_unref(a->slots[i].given);
		tenon_object_unref(a->slots[i].keep);
	}
	tenon_object_unref(a->main);
	tenon_object_unref(a->arena);
	tenon_object_unref(a->lasting);
	heap_free(a->slots);
	heap_free(a->tensors);
	heap_free(a->values);
	heap_free(a->codes);
	heap_free(a->views);
	heap_free(a);
}

static int read_metadata(struct aot_model *a, struct tenon_module *library)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *get;
	void *address = NULL;
	uint64_t constants;
	int err;

	err = model_needs_function(library, "get_c_metadata", &get);
	if (err)
		return tenon_error_in(err, "the model does not describe itself");
	err = tenon_call(get, &ret);
	if (!err)
		err = tenon_value_pointer(&ret, &address);
	tenon_value_release(&ret);
	tenon_object_unref(get);
	if (err)
		return tenon_error_in(err < 0 ? err : -TENON_E_CALL, "get_c_metadata");
	if (!address)
		return tenon_error(-TENON_E_FORMAT, "get_c_metadata returned nothing");
	a->meta = address;
	err = aot_metadata_check(a->meta, &constants);
	a->constants = (int64_t)constants;
	return err;
}

static int find_main(struct aot_model *a, struct tenon_module *library)
{
	size_t room = strlen(a->meta->name) + sizeof("___tvm_main__");
	char *name = heap_take(HEAP_TEMPORARY, 1, room, "name of a function");
	int err;

	if (!name)
		return tenon_error(-TENON_E_NOMEM, "no memory for the name of a function");
	snprintf(name, room, "%s___tvm_main__", a->meta->name);
	err = model_needs_function(library, name, &a->main);
	heap_free(name);
	if (!err && !tvm_legacy_function_raw(a->main, &a->symbol))
		a->symbol = NULL;
	return err;
}

static int allocate_tensors(struct aot_model *a)
{
	const struct aot_metadata *m = a->meta;
	size_t i, n;

	n = (size_t)(m->input_count + m->output_count);
	/* Code without workspaces takes no constants either. */
	if (m->workspace_count)
		n += 1 + (size_t)m->workspace_count;
	a->slots = heap_zeroed(n + 1, sizeof(*a->slots), "places of tensors");
	a->tensors = heap_zeroed(n + 1, sizeof(*a->tensors), "tensors of the call");
	a->values = heap_zeroed(n + 1, sizeof(*a->values), "arguments of the call");
	a->codes = heap_zeroed(n + 1, sizeof(*a->codes), "types of arguments");
	a->views = heap_zeroed(n + 1, sizeof(*a->views), "values of the call");
	if (!a->slots || !a->tensors || !a->values || !a->codes || !a->views)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", n);
	a->count = n;
	for (i = 0; i < n; i++) {
		a->values[i].pointer = &a->tensors[i];
		a->codes[i] = LEGACY_DLTENSOR;
		a->views[i] = tenon_arg_tensor(&a->tensors[i]);
	}
	return 0;
}

/* The constant pool has no description of its own. */
static void describe_slots(struct aot_model *a)
{
	const struct aot_metadata *m = a->meta;
	size_t i, at = 0;

	for (i = 0; i < (size_t)m->input_count; i++)
		a->slots[at++].info = &m->inputs[i];
	for (i = 0; i < (size_t)m->output_count; i++)
		a->slots[at++].info = &m->outputs[i];
	if (m->workspace_count)
		a->slots[at++].info = NULL;
	for (i = 0; i < (size_t)m->workspace_count; i++)
		a->slots[at++].info = &m->workspaces[i];
	for (i = 0; i < a->count; i++) {
		const struct aot_tensor_info *t = a->slots[i].info;

		a->slots[i].bytes = t ? aot_tensor_bytes(t) : (uint64_t)a->constants;
		if (t)
			a->tensors[i] = tenon_dltensor(NULL, (int64_t *)(uintptr_t)t->shape,
						       (int32_t)t->ndim, t->dtype);
		else
			a->tensors[i] = tenon_dltensor(NULL, &a->constants, 1,
						       tenon_dtype(TENON_DTYPE_UINT, 8, 1));
	}
}

/* ---- memory */

/* what of a model compiled ahead of time lies in the same storage */
enum home {
	HOME_PLANNED,  /* in memory of tensors, which another model may share */
	HOME_LASTING,  /* in memory of the model alone */
	HOME_IN_PLACE, /* nowhere: a parameter that is used where it is */
};

static void find_params(const struct aot_model *a, const struct tenon_params *params, uint8_t *home)
{
	const struct tenon_param *p;
	int64_t input;
	size_t i;

	for (i = 0; params && (p = tenon_params_at(params, i)); i++) {
		input = aot_ops.find_input((struct tenon_model *)(uintptr_t)&a->base, p->name);
		if (input < 0)
			continue;
		if ((uintptr_t)p->tensor.data % TENON_TENSOR_ALIGN || home[input] == HOME_LASTING)
			home[input] = HOME_LASTING;
		else
			home[input] = HOME_IN_PLACE;
	}
}

/*
 * In a caller's memory the constants, and parameters that are copied, are apart; else all is in one storage. Parameters of
 * the file are set first, and those of the options then.
 */
static void find_homes(const struct aot_model *a, const struct tenon_params *of_file,
		       const struct tenon_params *of_options, uint8_t *home)
{
	size_t i;

	memset(home, HOME_PLANNED, a->count);
	if (!heap_now())
		return;
	for (i = 0; i < a->count; i++)
		if (!a->slots[i].info)
			home[i] = HOME_LASTING;
	find_params(a, of_file, home);
	find_params(a, of_options, home);
}

static int lay_out(struct aot_model *a, const uint8_t *home, uint8_t which, struct storage **out)
{
	uint64_t at = 0, end;
	size_t i;
	int err = 0;

	for (i = 0; i < a->count; i++) {
		if (home[i] != which)
			continue;
		a->slots[i].home = (char *)(uintptr_t)at; /* an offset until there is memory */
		/* cannot overflow: each size is at most INT64_MAX / 2 (aot_metadata.c) */
		end = at + a->slots[i].bytes;
		if (end > INT64_MAX - TENON_TENSOR_ALIGN)
			return tenon_error(-TENON_E_OVERFLOW,
					   "all tensors together do not fit into memory");
		at = (end + TENON_TENSOR_ALIGN - 1) & ~(uint64_t)(TENON_TENSOR_ALIGN - 1);
	}
	if (which == HOME_PLANNED)
		err = storage_create(at, out);
	else if (at)
		err = storage_create_lasting(at, out);
	for (i = 0; i < a->count && !err && *out; i++)
		if (home[i] == which)
			a->slots[i].home = (*out)->data + (uintptr_t)a->slots[i].home;
	return err;
}

static int place_slots(struct aot_model *a, const struct tenon_params *of_file,
		       const struct tenon_params *of_options)
{
	uint8_t *home = heap_take(HEAP_TEMPORARY, 1, a->count + 1, "homes of tensors");
	size_t i;
	int err;

	if (!home)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", a->count);
	find_homes(a, of_file, of_options, home);
	err = lay_out(a, home, HOME_PLANNED, &a->arena);
	if (!err)
		err = lay_out(a, home, HOME_LASTING, &a->lasting);
	heap_free(home);
	for (i = 0; i < a->count && !err; i++) {
		a->tensors[i].data = aot_own_place(a, i);
		if (!a->slots[i].info && aot_own_place(a, i))
			aot_metadata_fill(a->meta, aot_own_place(a, i));
	}
	return err;
}

static int check_devices(const struct tenon_model_options *o)
{
	if (o->device_count > 1)
		return tenon_error(-TENON_E_USAGE, "%zu devices, want one", o->device_count);
	if (o->device_count && o->devices[0].device_type != kDLCPU)
		return tenon_error(-TENON_E_DEVICE,
				   "device %s:%d: models compiled ahead of time run on cpu:0 "
				   "alone, in TVM too",
				   tenon_device_name(o->devices[0].device_type),
				   o->devices[0].device_id);
	return 0;
}

/* Make the objects of all outputs, so that getting them takes no memory later. */
static int make_outputs(struct aot_model *a)
{
	struct tenon_value output = tenon_arg_none();
	int64_t i;
	int err = 0;

	for (i = 0; i < a->meta->output_count && !err; i++) {
		err = aot_ops.output_value(&a->base, (size_t)i, &output);
		tenon_value_release(&output);
	}
	return err;
}

static int aot_create(struct tenon_module *root, const struct factory *f,
		      const struct tenon_model_options *o, struct tenon_model **out)
{
	struct aot_model *a = heap_zeroed(1, sizeof(*a), "model");
	struct tenon_module *library;
	int err;

	if (!a)
		return tenon_error(-TENON_E_NOMEM, "no memory for a model");
	err = factory_library(root, &library);
	if (!err)
		err = read_metadata(a, library);
	if (!err)
		err = find_main(a, library);
	if (!err)
		err = allocate_tensors(a);
	if (!err) {
		describe_slots(a);
		a->unset = (size_t)a->meta->input_count;
		err = place_slots(a, f->params, o->params);
	}
	if (err) {
		aot_destroy(&a->base);
		return err;
	}
	model_init(&a->base, &aot_ops, root, o);
	err = f->params ? tenon_model_set_params(&a->base, f->params) : 0;
	if (!err && heap_now())
		err = make_outputs(a);
	if (err)
		tenon_model_close(&a->base);
	else
		*out = &a->base;
	return err;
}

int aot_model_create(struct tenon_module *root, const struct tenon_model_options *o,
		     struct tenon_model **out)
{
	struct factory *f;
	int err;

	*out = NULL;
	if (o->describe)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a model compiled ahead of time is described by its code alone");
	err = check_devices(o);
	if (!err)
		err = factory_of(root, o->function, &f);
	if (err)
		return err;
	err = aot_create(root, f, o, out);
	tenon_object_unref(f);
	return err;
}
