/* SPDX-License-Identifier: MIT */
/* Compare the operators of two models, one after the other, by what the executors report to records of runs. */
#include "runtime/self_test/self_test.h"

#include <tenon/backend/buffer.h>

#include "lib/option.h"

#if OPTION_ON(RECORD)
#include <stdlib.h>
#include <string.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "lib/record.h"
#include "runtime/device/device_core.h"

/* what is kept of the reference at most; operators behind that are not compared */
#define KEPT_MOST (UINT64_C(1) << 30)

/**
 * struct kept_operator - an operator of the reference
 * @name: name in the model, and the called function
 * @tensors: @count tensors in memory of the host as they are behind the call; NULL for arguments that are none
 * @count: number of arguments
 */
struct kept_operator {
	char *name;
	struct tenon_tensor **tensors;
	uint32_t count;
};

/**
 * struct comparison - a comparison of two runs
 * @c: the case
 * @operators: @count operators of the reference
 * @count: how many
 * @bytes: their size
 * @full: not all were kept
 * @keeping: the reference runs; otherwise the model does
 * @next: of the model's run: the operator that is next
 * @found: the answer is in @why
 * @inside: a hook's own copies are no operators
 * @err: -TENON_E_NOMEM, or 0
 * @why: the answer
 */
struct comparison {
	const struct tenon_case *c;
	struct kept_operator *operators;
	size_t count;
	uint64_t bytes;
	bool full;
	bool keeping;
	size_t next;
	bool found;
	bool inside;
	int err;
	struct tenon_buffer *why;
};

/* An operator that is under way. */
struct begun {
	struct operator_begun begun;
	struct comparison *comparison;
	char *name;
	DLTensor *tensors;
	uint32_t count;
	uint32_t outputs;
};

/* of the thread that compares: operators of other threads are not its */
static __thread struct comparison *active;

static char *name_of(const struct operator_call *call)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	tenon_buffer_printf(&text, "%.*s", (int)call->name.size, call->name.data);
	if (call->function.size && !tenon_slice_equal(call->name, call->function))
		tenon_buffer_printf(&text, " of function %.*s", (int)call->function.size,
				    call->function.data);
	return text.data;
}

static void begun_free(struct begun *b)
{
	free(b->name);
	free(b->tensors);
	free(b);
}

/* ---- the reference */

static int keep(struct comparison *k, struct begun *b)
{
	struct kept_operator *o = k->operators;
	uint32_t i;
	size_t bytes;
	int err = 0;

	for (i = b->outputs; i < b->count && !err && !k->full; i++) {
		bytes = 0;
		if (b->tensors[i].data)
			err = tenon_tensor_bytes(&b->tensors[i], &bytes);
		k->bytes += bytes;
		k->full = k->bytes > KEPT_MOST;
	}
	if (err || k->full)
		return err;
	if (!(k->count & (k->count - 1)))
		o = realloc(o, (k->count ? 2 * k->count : 1) * sizeof(*o));
	if (!o)
		return -TENON_E_NOMEM;
	k->operators = o;
	o += k->count++;
	*o = (struct kept_operator){ b->name, calloc(b->count + 1, sizeof(struct tenon_tensor *)),
				     b->count };
	b->name = NULL;
	if (!o->tensors)
		return -TENON_E_NOMEM;
	for (i = b->outputs; i < b->count && !err; i++)
		if (b->tensors[i].data)
			err = self_test_host(&b->tensors[i], &o->tensors[i]);
	return err;
}

/* ---- the model */

static int compare_tensor(struct comparison *k, const struct begun *b, uint32_t i)
{
	const DLTensor *wanted = &k->operators[k->next].tensors[i]->dl;
	struct tenon_case_value want = { .dtype = wanted->dtype,
					 .ndim = wanted->ndim,
					 .shape = wanted->shape };
	const size_t before = k->why->size;
	struct tenon_tensor *host;
	size_t bytes = 0;
	int err;

	err = tenon_tensor_bytes(wanted, &bytes);
	if (!err)
		err = self_test_host(&b->tensors[i], &host);
	if (err)
		return err;
	want.data = (struct tenon_slice){ wanted->data, bytes };
	tenon_buffer_printf(
		k->why, "the first operator that differs: number %zu, %s, argument %u: ", k->next,
		b->name ? b->name : "", (unsigned int)i);
	k->found = !self_test_compare(k->c, &host->dl, &want, k->why);
	if (k->found)
		tenon_buffer_printf(k->why, "\n");
	else if (k->why->data)
		k->why->data[k->why->size = before] = 0;
	tenon_object_unref(host);
	return 0;
}

static int compare(struct comparison *k, const struct begun *b)
{
	const struct kept_operator *o = &k->operators[k->next];
	uint32_t i;
	int err = 0;

	if (k->next >= k->count)
		return 0;
	if (b->count != o->count || !b->name || !o->name || strcmp(b->name, o->name) != 0) {
		k->found = true;
		tenon_buffer_printf(
			k->why,
			"operators before number %zu are equal; that is %s here and %s in "
			"the reference, so the rest is not compared\n",
			k->next, b->name ? b->name : "?", o->name ? o->name : "?");
		return 0;
	}
	for (i = b->outputs; i < b->count && !err && !k->found; i++)
		if (b->tensors[i].data && o->tensors[i])
			err = compare_tensor(k, b, i);
	k->next++;
	return err;
}

/* ---- what executors call */

/* Make an error the answer. Return: 0; -TENON_E_NOMEM. */
static int note_reason(struct comparison *k, int err)
{
	if (!err || err == -TENON_E_NOMEM)
		return err;
	tenon_buffer_printf(k->why, "operators are not compared: %s\n", tenon_error_message());
	tenon_error_clear();
	k->found = true;
	return 0;
}

static void after(struct operator_begun *begun, int err)
{
	struct begun *b = (struct begun *)begun;
	struct comparison *k = b->comparison;
	struct error_slot *aside = error_set_aside();

	k->inside = true;
	if (!err && !k->err && !k->found)
		k->err = note_reason(k, k->keeping ? keep(k, b) : compare(k, b));
	k->inside = false;
	begun_free(b);
	error_put_back(aside);
}

static struct operator_begun *before(const struct operator_call *call)
{
	struct comparison *k = active;
	struct begun *b;
	DLTensor *t;
	uint32_t i;

	if (!k || k->inside || k->found || k->err)
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->begun.end = after;
	b->comparison = k;
	b->name = name_of(call);
	b->count = call->count;
	b->outputs = call->outputs;
	b->tensors = calloc(call->count + 1, sizeof(*b->tensors));
	for (i = 0; b->tensors && i < call->count; i++)
		if (!tenon_value_tensor(&call->args[i], &t))
			b->tensors[i] = *t;
		else
			tenon_error_clear();
	if (b->tensors)
		return &b->begun;
	begun_free(b);
	return NULL;
}

static int submit(struct tenon_queue *queue, const struct tenon_operation *operation)
{
	return queue->device->ops->queue->submit(queue, operation);
}

static const struct tracer tracer = { .submit = submit, .before = before };

/* ---- both runs */

static int begin(const void *context)
{
	return 0;
}

static int run_both(struct comparison *k, struct tenon_model *model, struct tenon_model *reference)
{
	int err;

	active = k;
	k->keeping = true;
	err = self_test_run(reference, k->c);
	k->keeping = false;
	if (!err)
		err = self_test_run(model, k->c);
	active = NULL;
	return k->err ? tenon_error(k->err, "no memory to compare operators") : err;
}

static void put_equal(const struct comparison *k, struct tenon_buffer *why)
{
	if (!k->count)
		tenon_buffer_printf(why,
				    "operators are not compared: the executor calls them inside of "
				    "compiled code, or on another machine\n");
	else
		tenon_buffer_printf(
			why, "no operator differs: %zu %s equal to those of the reference%s\n",
			k->next, k->next == 1 ? "is" : "are",
			k->full ? "; the others are too large to keep" : "");
}

static void release(struct comparison *k)
{
	size_t i;
	uint32_t a;

	for (i = 0; i < k->count; i++) {
		for (a = 0; k->operators[i].tensors && a < k->operators[i].count; a++)
			tenon_object_unref(k->operators[i].tensors[a]);
		free(k->operators[i].tensors);
		free(k->operators[i].name);
	}
	free(k->operators);
}

int self_test_operators(struct tenon_model *model, const struct tenon_case *c,
			struct tenon_model *reference, struct tenon_buffer *why)
{
	struct comparison k = { .c = c, .why = why };
	int err;

	err = trace_start(&tracer, begin, NULL, "a self-test");
	if (!err) {
		err = run_both(&k, model, reference);
		trace_stop(&tracer);
	}
	err = note_reason(&k, err);
	if (!err && !k.found)
		put_equal(&k, why);
	release(&k);
	return err;
}
#else
int self_test_operators(struct tenon_model *model, const struct tenon_case *c,
			struct tenon_model *reference, struct tenon_buffer *why)
{
	return tenon_buffer_printf(why, "operators are not compared: this build writes no records "
					"(CONFIG_TRACE, CONFIG_JSON)\n");
}
#endif
