/* SPDX-License-Identifier: MIT */
/*
 * sample: run samplers on the values of standard input, a line for each call, and print what they give.
 *
 * A line is the name of a builtin and its arguments: iN an integer, dX a double, fD,D:X,X… a tensor of
 * float32 with these dimensions and the bits of its elements in hexadecimal, tD:N,N… one of int32. A
 * line of the answer is "int N", "tensor N,N…", "none" or "error TEXT", a tab, and the bits of the
 * first argument after the call.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "runtime/relax/relax_builtin.h"

#define ARGUMENTS_MOST	8
#define DIMENSIONS_MOST 4

static const struct {
	const char *name;
	tenon_call_fn call;
} builtins[] = {
	{ "sample_top_p_from_logits", relax_builtin_sample_top_p_from_logits },
	{ "sample_top_p_from_prob", relax_builtin_sample_top_p_from_prob },
	{ "multinomial_from_uniform", relax_builtin_multinomial_from_uniform },
	{ "apply_repetition_penalty", relax_builtin_apply_repetition_penalty },
	{ "apply_presence_and_frequency_penalty",
	  relax_builtin_apply_presence_and_frequency_penalty },
	{ "apply_softmax_with_temperature", relax_builtin_apply_softmax_with_temperature },
};

/* a tensor of an argument */
struct argument {
	DLTensor tensor;
	int64_t shape[DIMENSIONS_MOST];
	uint32_t *data;
	uint64_t count;
};

static void bad(const char *what)
{
	fprintf(stderr, "%s: no argument\n", what);
	exit(2);
}

/* The dimensions, and what comes behind them. */
static char *read_shape(struct argument *a, char *text)
{
	char *end = text;

	a->count = 1;
	a->tensor.ndim = 0;
	while (*end != ':') {
		if (a->tensor.ndim == DIMENSIONS_MOST)
			bad(text);
		a->shape[a->tensor.ndim] = strtoll(end, &end, 10);
		a->count *= (uint64_t)a->shape[a->tensor.ndim++];
		if (*end == ',')
			end++;
		else if (*end != ':')
			bad(text);
	}
	return end + 1;
}

static struct tenon_value read_tensor(struct argument *a, char *text, bool real)
{
	const DLDataType dtype = { (uint8_t)(real ? TENON_DTYPE_FLOAT : TENON_DTYPE_INT), 32, 1 };
	char *at = read_shape(a, text);
	uint64_t i;

	a->data = calloc(a->count + 1, sizeof(*a->data));
	if (!a->data)
		bad(text);
	for (i = 0; i < a->count; i++) {
		a->data[i] = real ? (uint32_t)strtoul(at, &at, 16) : (uint32_t)strtol(at, &at, 10);
		at += *at == ',';
	}
	a->tensor = tenon_dltensor(a->data, a->shape, a->tensor.ndim, dtype);
	return tenon_arg_tensor(&a->tensor);
}

static struct tenon_value read_argument(struct argument *a, char *text)
{
	switch (*text) {
	case 'i':
		return tenon_arg_int(strtoll(text + 1, NULL, 10));
	case 'd':
		return tenon_arg_float(strtod(text + 1, NULL));
	case 'f':
	case 't':
		return read_tensor(a, text + 1, *text == 'f');
	default:
		bad(text);
		return tenon_arg_none();
	}
}

static void print_result(int err, struct tenon_value *ret)
{
	const DLTensor *t;
	int64_t i;

	if (err) {
		printf("error %s", tenon_error_message());
		tenon_error_clear();
	} else if (ret->type == TENON_TYPE_INT) {
		printf("int %" PRIi64, ret->as.integer);
	} else if (ret->type == TENON_TYPE_TENSOR) {
		t = &((struct tenon_tensor *)ret->as.object)->dl;
		printf("tensor ");
		for (i = 0; i < t->shape[0]; i++)
			printf(i ? ",%" PRIi64 : "%" PRIi64, ((const int64_t *)t->data)[i]);
	} else {
		printf("none");
	}
	if (!err)
		tenon_value_release(ret);
}

static void run(char *line)
{
	struct argument tensors[ARGUMENTS_MOST] = { 0 };
	struct tenon_value args[ARGUMENTS_MOST], ret = tenon_arg_none();
	char *rest = line, *word = strsep(&rest, " ");
	int32_t count = 0;
	size_t i;
	uint64_t k;

	for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		if (!strcmp(word, builtins[i].name))
			break;
	if (i == sizeof(builtins) / sizeof(builtins[0]))
		bad(word);
	while ((word = strsep(&rest, " ")) && count < ARGUMENTS_MOST) {
		args[count] = read_argument(&tensors[count], word);
		count++;
	}
	print_result(builtins[i].call(NULL, args, count, &ret), &ret);
	putchar('\t');
	for (k = 0; k < tensors[0].count; k++)
		printf(k ? ",%08" PRIx32 : "%08" PRIx32, tensors[0].data[k]);
	putchar('\n');
	for (i = 0; i < ARGUMENTS_MOST; i++)
		free(tensors[i].data);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	(void)argv;
	if (argc < 2) {
		printf("sample.py runs this program with an argument\n");
		return 77;
	}
	while ((n = getline(&line, &room, stdin)) > 0) {
		line[n - (line[n - 1] == '\n')] = '\0';
		run(line);
	}
	free(line);
	return 0;
}
