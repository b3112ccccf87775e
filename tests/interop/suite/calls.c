/* SPDX-License-Identifier: MIT */
/* Calls between the worker and the other process. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "values.h"

/* keys of a callback's arguments start there */
#define FIRST_ARGUMENT 0x40000000U

void put_error(struct message *m)
{
	struct tenon_error *error = tenon_error_take();

	if (!error)
		fail("no memory for an error");
	put_byte(m, 'E');
	put_text(m, error->kind.data, error->kind.size);
	put_text(m, error->message.data, error->message.size);
	put_text(m, error->backtrace.data, error->backtrace.size);
	tenon_object_unref(&error->object);
}

/* a function of the other process, called by code that runs here */
static int call_back(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	struct message request = { NULL, 0, 0 }, reply;
	struct call_tensors known = { NULL, 0 };
	struct tenon_value value;
	uint32_t changed;
	DLTensor *dl;
	int32_t i;
	int err;

	put_byte(&request, 'C');
	put_u32(&request, *(uint32_t *)self);
	put_u32(&request, (uint32_t)count);
	for (i = 0; i < count; i++)
		put_value(&request, NULL, &args[i], FIRST_ARGUMENT + (uint32_t)i);
	send_message(&request);
	err = serve(&reply);
	if (err) {
		const struct tenon_slice kind = get_text(&reply), text = get_text(&reply);
		struct tenon_error *error = tenon_error_create(kind, text, get_text(&reply), NULL);

		if (!error)
			fail("no memory for an error");
		tenon_error_raise(error);
		tenon_object_unref(&error->object);
		free(reply.data);
		return -1;
	}
	for (i = 0; i < count; i++)
		if (args[i].type == TENON_TYPE_TENSOR)
			add_argument(&known, FIRST_ARGUMENT + (uint32_t)i, args[i].as.object);
	value = get_value(&reply, &known);
	for (changed = get_u32(&reply); changed; changed--) {
		const uint32_t argument = get_u32(&reply) - FIRST_ARGUMENT;
		const struct tenon_slice bytes = get_text(&reply);

		if (argument < (uint32_t)count && !tenon_value_tensor(&args[argument], &dl) &&
		    tenon_tensor_compact(dl))
			memcpy((char *)dl->data + dl->byte_offset, bytes.data, bytes.size);
	}
	free(reply.data);
	if (value.type == TENON_TYPE_TENSOR)
		tenon_object_ref(value.as.object);
	forget_tensors(&known);
	*ret = value;
	return 0;
}

static void forget_callback(void *self)
{
	free(self);
}

struct tenon_function *callback(uint32_t number)
{
	uint32_t *self = memory(NULL, sizeof(*self));
	struct tenon_function *f;

	*self = number;
	if (tenon_function_create(self, call_back, forget_callback, &f))
		fail("out of memory");
	return f;
}

void call(struct message *m)
{
	const struct tenon_value *function = kept_at(get_u32(m));
	const uint32_t count = get_u32(m);
	struct tenon_value *args = memory(NULL, count * sizeof(*args));
	struct tenon_value ret = tenon_arg_none();
	struct call_tensors tensors = { NULL, 0 };
	struct message answer = { NULL, 0, 0 };
	uint32_t i;
	int err;

	for (i = 0; i < count; i++)
		args[i] = get_value(m, &tensors);
	err = tenon_function_call((struct tenon_function *)function->as.object, args,
				  (int32_t)count, &ret);
	if (err) {
		put_error(&answer);
	} else {
		put_byte(&answer, 'V');
		put_value(&answer, &tensors, &ret, 0);
	}
	put_changes(&answer, &tensors);
	tenon_value_release(&ret);
	for (i = 0; i < count; i++)
		if (args[i].type != TENON_TYPE_TENSOR)
			tenon_value_release(&args[i]);
	free(args);
	retain_tensors(&answer, &tensors);
	send_message(&answer);
}
