/* SPDX-License-Identifier: MIT */
/* Run a model on a case, and compare its outputs. */
#include "runtime/self_test/self_test.h"

#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "runtime/core/reference.h"

int self_test_host(const DLTensor *t, struct tenon_tensor **out)
{
	int err = tenon_tensor_create(t->shape, t->ndim, t->dtype, out);

	if (!err)
		err = tenon_tensor_copy(t, &(*out)->dl);
	return object_made(err, out);
}

static int set_input(struct tenon_model *model, size_t place, const struct tenon_case_value *v)
{
	struct tenon_tensor *tensor;
	struct tenon_value value;
	size_t index = place;
	int err;

	err = v->name.size ? tenon_model_find_input(model, v->name, &index) : 0;
	if (!err)
		err = tenon_tensor_create(v->shape, v->ndim, v->dtype, &tensor);
	if (err)
		return err;
	if (v->data.size)
		memcpy(tensor->dl.data, v->data.data, v->data.size);
	value = tenon_arg_object(tensor);
	err = tenon_model_set_input(model, index, &value);
	tenon_object_unref(tensor);
	return err;
}

int self_test_run(struct tenon_model *model, const struct tenon_case *c)
{
	size_t i;
	int err = 0;

	for (i = 0; i < c->input_count && !err; i++)
		err = set_input(model, i, &c->inputs[i]);
	if (!err)
		err = tenon_model_run(model);
	return err ? tenon_error_in(err, "case %.*s", (int)c->name.size, c->name.data) : 0;
}

/* Return: as tenon_self_test(). */
static int check_value(const struct tenon_case *c, size_t index, const struct tenon_value *value,
		       const struct tenon_case_value *want, struct tenon_buffer *why)
{
	struct tenon_tensor *host;
	DLTensor *t;
	bool equal;
	int err;

	err = tenon_value_tensor(value, &t);
	if (err) {
		tenon_error_clear();
		tenon_buffer_printf(why, "output %zu is a %s and no tensor\n", index,
				    tenon_type_key(value->type));
		return 1;
	}
	err = self_test_host(t, &host);
	if (err)
		return err;
	tenon_buffer_printf(why, "output %zu", index);
	if (want->name.size)
		tenon_buffer_printf(why, " (%.*s)", (int)want->name.size, want->name.data);
	tenon_buffer_printf(why, ": ");
	equal = self_test_compare(c, &host->dl, want, why);
	tenon_buffer_printf(why, "\n");
	tenon_object_unref(host);
	return !equal;
}

static int check_output(struct tenon_model *model, const struct tenon_case *c, size_t place,
			struct tenon_buffer *why)
{
	const struct tenon_case_value *want = &c->outputs[place];
	const size_t before = why->size;
	struct tenon_value value;
	size_t index = place;
	int err;

	err = want->name.size ? tenon_model_find_output(model, want->name, &index) : 0;
	if (!err)
		err = tenon_model_output_value(model, index, &value);
	if (err)
		return tenon_error_in(err, "case %.*s", (int)c->name.size, c->name.data);
	err = check_value(c, index, &value, want, why);
	tenon_value_release(&value);
	/* an output that is equal is not told */
	if (!err && why->data)
		why->data[why->size = before] = 0;
	return err;
}

static int self_test(struct tenon_model *model, const struct tenon_case *c,
		     struct tenon_model *reference, struct tenon_buffer *why)
{
	bool differs = false;
	size_t i;
	int err;

	err = self_test_run(model, c);
	for (i = 0; i < c->output_count && err >= 0; i++) {
		err = check_output(model, c, i, why);
		differs |= err > 0;
	}
	if (err < 0)
		return err;
	err = differs && reference ? self_test_operators(model, c, reference, why) : 0;
	if (!err && why->status)
		err = why->status;
	return err ? err : differs;
}

extern const struct self_tester self_test_tester;

const struct self_tester self_test_tester = { .read = cases_read, .test = self_test };
