/* SPDX-License-Identifier: MIT */
/* Repeat one operation: put the recorded contents on the device, run it, and take the results. */
#include "tools/replay/replay.h"

#include <stdlib.h>
#include <tenon/backend/memory.h>
#include <tenon/function.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#include "runtime/device/kernel_call.h"
#include "tools/device_option/target_list.h"

/**
 * struct repetition - an operation that is being repeated
 * @m: the record
 * @op: the operation
 * @t: where
 * @host: tensors of the host by argument; NULL for other arguments
 * @there: tensors on the device; those of the host for the processor
 * @values: arguments of the call, and the extents of a launch behind them
 */
struct repetition {
	const struct replay_manifest *m;
	const struct replay_operation *op;
	const struct replay_target *t;
	struct tenon_tensor **host;
	struct tenon_tensor **there;
	struct tenon_value *values;
};

static int no_memory(const struct replay_operation *op)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for %zu arguments", op->argument_count);
}

/* A tensor of the host with recorded contents, or with zeros. */
static int make_host(const struct replay_manifest *m, const struct replay_argument *a,
		     const char *content, struct tenon_tensor **out)
{
	/* no memory is allocated for a size that the record does not have */
	int err = replay_content(m, a->after ? a->after : a->before, a->size, NULL);

	if (!err)
		err = tenon_tensor_create(a->shape, a->ndim, a->dtype, out);
	if (!err && content)
		err = replay_content(m, content, a->size, (*out)->dl.data);
	return err;
}

static int make_there(struct repetition *r, size_t i)
{
	const struct replay_argument *a = &r->op->arguments[i];
	int err;

	if (!r->t->on) {
		r->there[i] = r->host[i];
		tenon_object_ref(r->there[i]);
		return 0;
	}
	err = tenon_tensor_create_on(r->t->id, a->shape, a->ndim, a->dtype, &r->there[i]);
	return err ? err : tenon_tensor_copy(&r->host[i]->dl, &r->there[i]->dl);
}

static int make_arguments(struct repetition *r)
{
	const struct replay_operation *op = r->op;
	size_t i;
	int err = 0;

	for (i = 0; i < op->argument_count && !err; i++) {
		const struct replay_argument *a = &op->arguments[i];

		if (a->kind == REPLAY_TENSOR) {
			err = make_host(r->m, a, op->kind == REPLAY_WRITE ? a->after : a->before,
					&r->host[i]);
			if (!err)
				err = make_there(r, i);
			if (!err)
				r->values[i] = tenon_arg_object(r->there[i]);
		} else if (a->kind == REPLAY_REAL) {
			r->values[i] = tenon_arg_float(a->real);
		} else if (a->kind == REPLAY_INT) {
			r->values[i] = tenon_arg_int(a->integer);
		} else if (a->kind == REPLAY_BOOL) {
			r->values[i] = tenon_arg_bool(a->integer);
		} else {
			r->values[i] = tenon_arg_none();
		}
	}
	return err;
}

/* ---- what is repeated */

/* The kernel must take what was recorded: the record may be of another program, or forged. */
static int check_kernel(const struct repetition *r, const struct tenon_kernel_info *info)
{
	const struct replay_operation *op = r->op;
	size_t i;
	bool fits =
		info->argument_count == op->argument_count && info->tag_count == op->extent_count;

	for (i = 0; fits && i < op->argument_count; i++) {
		const bool memory = info->arguments[i].kind == TENON_ARGUMENT_MEMORY;
		const enum replay_argument_kind kind = op->arguments[i].kind;

		fits = memory ? kind == REPLAY_TENSOR || kind == REPLAY_NONE
			      : info->arguments[i].kind == TENON_ARGUMENT_SCALAR &&
					kind != REPLAY_TENSOR && kind != REPLAY_NONE;
	}
	for (i = 0; fits && i < op->extent_count; i++)
		fits = info->tags[i] == op->tags[i];
	return fits ? 0
		    : tenon_error(-TENON_E_VALUE,
				  "kernel %s of the module takes other arguments or extents than "
				  "were recorded",
				  op->name);
}

static int call(struct repetition *r)
{
	const struct replay_operation *op = r->op;
	struct tenon_value returned = tenon_arg_none();
	const struct tenon_kernel_info *info;
	struct tenon_function *f;
	size_t i;
	int err;

	err = replay_target_function(r->t, op, &f);
	if (err || !f)
		return err ? err : REPLAY_ABSENT;
	info = kernel_function_info(f);
	if (op->kind == REPLAY_KERNEL)
		err = check_kernel(r, info);
	else if (info && op->argument_count != (size_t)info->argument_count + info->tag_count)
		err = tenon_error(-TENON_E_VALUE, "%s takes %u arguments, %zu were recorded",
				  op->function, info->argument_count + info->tag_count,
				  op->argument_count);
	if (!err)
		err = make_arguments(r);
	for (i = 0; i < op->extent_count; i++)
		r->values[op->argument_count + i] = tenon_arg_int(op->extents[i]);
	if (!err)
		err = tenon_function_call(
			f, r->values, (int32_t)(op->argument_count + op->extent_count), &returned);
	if (!err)
		tenon_value_release(&returned);
	tenon_object_unref(f);
	/* compiled code fails with any number */
	if (err > 0)
		err = tenon_error_status() ? tenon_error_status()
					   : tenon_error(-TENON_E_CALL,
							 "the function failed without saying why");
	return err;
}

/* A copy, a fill, or what a tensor is after it was written and read. */
static int transfer(struct repetition *r)
{
	const struct replay_operation *op = r->op;
	struct tenon_memory *to, *from, rooms[2];
	struct tenon_queue *queue;
	int err;

	if (!r->t->on)
		return REPLAY_ABSENT;
	err = make_arguments(r);
	if (op->kind == REPLAY_WRITE || op->kind == REPLAY_READ || err || !op->arguments[0].size)
		return err;
	err = tenon_queue_current(r->t->on, &queue);
	if (!err)
		err = tenon_memory_of_data(r->t->on, r->there[0]->dl.data, &rooms[0], &to);
	if (!err && op->kind == REPLAY_FILL)
		return tenon_queue_fill(queue, to, 0, op->arguments[0].size, op->pattern, op->width,
					NULL);
	if (!err)
		err = tenon_memory_of_data(r->t->on, r->there[1]->dl.data, &rooms[1], &from);
	return err ? err : tenon_queue_copy(queue, to, 0, from, 0, op->arguments[0].size, NULL);
}

/* ---- results */

static int take_results(struct repetition *r, struct replay_results *out)
{
	size_t i;
	int err = target_wait(r->t->on);

	for (i = 0; i < out->count && !err; i++) {
		const struct replay_argument *a = &r->op->arguments[i];

		/* what was written to the device is compared as it is read from there */
		if (a->kind != REPLAY_TENSOR || !(a->after || r->op->kind == REPLAY_READ))
			continue;
		if (r->t->on)
			err = tenon_tensor_copy(&r->there[i]->dl, &r->host[i]->dl);
		out->at[i] = r->host[i];
		tenon_object_ref(out->at[i]);
	}
	return err;
}

static int results_init(struct replay_results *out, size_t count)
{
	out->at = calloc(count + 1, sizeof(struct tenon_tensor *));
	out->count = out->at ? count : 0;
	return out->at ? 0 : -TENON_E_NOMEM;
}

static int run_repetition(struct repetition *r, struct replay_results *out)
{
	const size_t count = r->op->argument_count;
	int err = 0;

	r->host = calloc(count + 1, sizeof(struct tenon_tensor *));
	r->there = calloc(count + 1, sizeof(struct tenon_tensor *));
	r->values = calloc(count + TENON_TAG_COUNT, sizeof(*r->values));
	if (!r->host || !r->there || !r->values || results_init(out, count))
		return no_memory(r->op);
	/* what host code does first: kernels and workspaces are on this device from now on */
	if (r->t->on)
		err = tenon_device_set_current(r->t->on);
	if (!err)
		err = r->op->kind == REPLAY_OPERATOR || r->op->kind == REPLAY_KERNEL ? call(r)
										     : transfer(r);
	return err ? err : take_results(r, out);
}

int replay_operation_run(const struct replay_manifest *m, const struct replay_operation *op,
			 const struct replay_target *t, struct replay_results *out)
{
	struct repetition r = { .m = m, .op = op, .t = t };
	size_t i;
	int err;

	*out = (struct replay_results){ 0 };
	err = run_repetition(&r, out);
	for (i = 0; r.host && i < op->argument_count; i++)
		tenon_object_unref(r.host[i]);
	for (i = 0; r.there && i < op->argument_count; i++)
		tenon_object_unref(r.there[i]);
	free(r.host);
	free(r.there);
	free(r.values);
	return err;
}

int replay_operation_recorded(const struct replay_manifest *m, const struct replay_operation *op,
			      struct replay_results *out)
{
	const char *content;
	size_t i;
	int err;

	*out = (struct replay_results){ 0 };
	err = results_init(out, op->argument_count);
	if (err)
		return no_memory(op);
	for (i = 0; i < out->count && !err; i++) {
		const struct replay_argument *a = &op->arguments[i];

		content = op->kind == REPLAY_READ ? a->before : a->after;
		if (a->kind == REPLAY_TENSOR && content)
			err = make_host(m, a, content, &out->at[i]);
	}
	return err;
}

void replay_results_fini(struct replay_results *r)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		tenon_object_unref(r->at[i]);
	free(r->at);
}
