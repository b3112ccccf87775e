/* SPDX-License-Identifier: MIT */
/* Create slots from the metadata of an ahead-of-time model and lay them out in one arena. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
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
	free(a->slots);
	free(a->tensors);
	free(a->values);
	free(a->codes);
	free(a->views);
	free(a);
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
	struct tenon_buffer name = TENON_BUFFER_INIT;
	int err;

	err = tenon_buffer_printf(&name, "%s___tvm_main__", a->meta->name);
	if (!err)
		err = model_needs_function(library, name.data, &a->main);
	tenon_buffer_fini(&name);
	if (!err && !tvm_legacy_function_raw(a->main, &a->symbol))
		a->symbol = NULL;
	return err;
}

static int make_room(struct aot_model *a)
{
	const struct aot_metadata *m = a->meta;
	size_t i, n;

	n = (size_t)(m->input_count + m->output_count);
	/* Code without workspaces takes no constants either. */
	if (m->workspace_count)
		n += 1 + (size_t)m->workspace_count;
	a->slots = calloc(n + 1, sizeof(*a->slots));
	a->tensors = calloc(n + 1, sizeof(*a->tensors));
	a->values = calloc(n + 1, sizeof(*a->values));
	a->codes = calloc(n + 1, sizeof(*a->codes));
	a->views = calloc(n + 1, sizeof(*a->views));
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

static int place_slots(struct aot_model *a)
{
	uint64_t at = 0, end;
	size_t i;
	int err;

	for (i = 0; i < a->count; i++) {
		a->slots[i].offset = at;
		if (__builtin_add_overflow(at, a->slots[i].bytes, &end) ||
		    end > INT64_MAX - TENON_TENSOR_ALIGN)
			return tenon_error(-TENON_E_OVERFLOW,
					   "all tensors together do not fit into memory");
		at = (end + TENON_TENSOR_ALIGN - 1) & ~(uint64_t)(TENON_TENSOR_ALIGN - 1);
	}
	err = storage_create(at, &a->arena);
	for (i = 0; i < a->count && !err; i++) {
		a->tensors[i].data = aot_own_place(a, i);
		if (!a->slots[i].info)
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

static int aot_create(struct tenon_module *root, const struct factory *f,
		      const struct tenon_model_options *o, struct tenon_model **out)
{
	struct aot_model *a = calloc(1, sizeof(*a));
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
		err = make_room(a);
	if (!err) {
		describe_slots(a);
		a->unset = (size_t)a->meta->input_count;
		err = place_slots(a);
	}
	if (err) {
		aot_destroy(&a->base);
		return err;
	}
	model_init(&a->base, &aot_ops, root, o);
	err = f->params ? tenon_model_set_params(&a->base, f->params) : 0;
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
