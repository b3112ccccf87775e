/* SPDX-License-Identifier: MIT */
/*
 * Operators of variables, which keep their values between runs. The tensor of a handle has the memory of its variable as its data;
 * tflite_variables.c has checked types and sizes, and has done what CALL_ONCE does.
 */
#include <string.h>

#include "runtime/tflite/operator.h"

static int prepare(struct operator_call *c)
{
	return 0;
}

static void run_nothing(const struct operator_call *c)
{
}

static void read_variable(const struct operator_call *c)
{
	memcpy(c->outputs[0]->data, c->inputs[0]->data, (size_t)c->outputs[0]->info.bytes);
}

static void assign(const struct operator_call *c)
{
	memcpy(c->inputs[0]->data, c->inputs[1]->data, (size_t)c->inputs[1]->info.bytes);
}

const struct operator_kind operator_call_once = { TFLITE_CALL_ONCE, 0, 0, 0, prepare, run_nothing };
const struct operator_kind operator_var_handle = {
	TFLITE_VAR_HANDLE, 0, 0, 1, prepare, run_nothing
};
const struct operator_kind operator_read_variable = { TFLITE_READ_VARIABLE, 1, 1, 1, prepare,
						      read_variable };
const struct operator_kind operator_assign_variable = {
	TFLITE_ASSIGN_VARIABLE, 2, 2, 0, prepare, assign
};
