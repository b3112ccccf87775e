/* SPDX-License-Identifier: MIT */
/* Write a kernel in SPIR-V word by word. */
#include "tests/vulkan/spirv_words.h"

#include <stdarg.h>
#include <string.h>

enum op {
	ENTRY_POINT = 15,
	MEMORY_MODEL = 14,
	EXECUTION_MODE = 16,
	CAPABILITY = 17,
	TYPE_VOID = 19,
	TYPE_BOOL = 20,
	TYPE_INT = 21,
	TYPE_VECTOR = 23,
	TYPE_RUNTIME_ARRAY = 29,
	TYPE_STRUCT = 30,
	TYPE_POINTER = 32,
	TYPE_FUNCTION = 33,
	CONSTANT = 43,
	FUNCTION = 54,
	FUNCTION_END = 56,
	VARIABLE = 59,
	LOAD = 61,
	STORE = 62,
	ACCESS_CHAIN = 65,
	DECORATE = 71,
	MEMBER_DECORATE = 72,
	COMPOSITE_EXTRACT = 81,
	I_ADD = 128,
	U_LESS_THAN = 176,
	SELECTION_MERGE = 247,
	LABEL = 248,
	BRANCH = 249,
	BRANCH_CONDITIONAL = 250,
	RETURN = 253,
};

enum {
	BLOCK = 2,
	BUFFER_BLOCK = 3,
	ARRAY_STRIDE = 6,
	BUILT_IN = 11,
	BINDING = 33,
	SET = 34,
	OFFSET = 35
};
enum { INPUT = 1, UNIFORM = 2, PUSH_CONSTANT = 9, GLOBAL_INVOCATION_ID = 28 };

/* ids; those of buffers, members and values follow */
enum id {
	MAIN = 1,
	VOID,
	FUNCTION_TYPE,
	BOOL,
	UINT,
	VEC3,
	IN_VEC3,
	GID,
	ARRAY,
	BUFFER,
	P_BUFFER,
	P_UINT,
	SCALARS,
	P_SCALARS,
	P_SCALAR,
	PARAMS,
	ENTRY,
	BODY,
	END,
	POSITION,
	X,
	BELOW,
	FREE,
};

struct writer {
	uint32_t *words;
	size_t count;
	uint32_t next;
};

static void op(struct writer *w, enum op code, int count, ...)
{
	va_list args;

	va_start(args, count);
	w->words[w->count++] = (uint32_t)(count + 1) << 16 | code;
	while (count--)
		w->words[w->count++] = va_arg(args, uint32_t);
	va_end(args);
}

static void entry_point(struct writer *w, const char *name)
{
	uint32_t text[16] = { 0 }, n = (uint32_t)strlen(name) / 4 + 1, i;

	memcpy(text, name, strlen(name));
	w->words[w->count++] = (n + 4) << 16 | ENTRY_POINT;
	w->words[w->count++] = 5;
	w->words[w->count++] = MAIN;
	for (i = 0; i < n; i++)
		w->words[w->count++] = text[i];
	w->words[w->count++] = GID;
}

/* ids: buffer i is FREE + i, constant i is behind the buffers */
static uint32_t buffer_id(uint32_t i)
{
	return FREE + i;
}

static uint32_t constant_id(const struct spirv_sum *s, uint32_t i)
{
	return FREE + s->buffers + i;
}

static void decorations(struct writer *w, const struct spirv_sum *s)
{
	uint32_t i;

	op(w, DECORATE, 3, GID, BUILT_IN, GLOBAL_INVOCATION_ID);
	op(w, DECORATE, 3, ARRAY, ARRAY_STRIDE, 4);
	op(w, MEMBER_DECORATE, 4, BUFFER, 0, OFFSET, 0);
	op(w, DECORATE, 2, BUFFER, BUFFER_BLOCK);
	for (i = 0; i < s->buffers; i++) {
		op(w, DECORATE, 3, buffer_id(i), SET, 0);
		op(w, DECORATE, 3, buffer_id(i), BINDING, i);
	}
	if (!s->scalars)
		return;
	op(w, DECORATE, 2, SCALARS, BLOCK);
	for (i = 0; i < s->scalars; i++)
		op(w, MEMBER_DECORATE, 4, SCALARS, i, OFFSET, 8 * i);
	if (s->block) {
		op(w, DECORATE, 3, PARAMS, SET, 0);
		op(w, DECORATE, 3, PARAMS, BINDING, s->buffers);
	}
}

static void types(struct writer *w, const struct spirv_sum *s)
{
	uint32_t storage = s->block ? UNIFORM : PUSH_CONSTANT, i;

	op(w, TYPE_VOID, 1, VOID);
	op(w, TYPE_FUNCTION, 2, FUNCTION_TYPE, VOID);
	op(w, TYPE_BOOL, 1, BOOL);
	op(w, TYPE_INT, 3, UINT, 32, 0);
	op(w, TYPE_VECTOR, 3, VEC3, UINT, 3);
	op(w, TYPE_POINTER, 3, IN_VEC3, INPUT, VEC3);
	op(w, VARIABLE, 3, IN_VEC3, GID, INPUT);
	op(w, TYPE_RUNTIME_ARRAY, 2, ARRAY, UINT);
	op(w, TYPE_STRUCT, 2, BUFFER, ARRAY);
	op(w, TYPE_POINTER, 3, P_BUFFER, UNIFORM, BUFFER);
	op(w, TYPE_POINTER, 3, P_UINT, UNIFORM, UINT);
	for (i = 0; i < s->buffers; i++)
		op(w, VARIABLE, 3, P_BUFFER, buffer_id(i), UNIFORM);
	for (i = 0; i <= s->scalars; i++)
		op(w, CONSTANT, 3, UINT, constant_id(s, i), i);
	if (!s->scalars)
		return;
	w->words[w->count++] = (s->scalars + 2) << 16 | TYPE_STRUCT;
	w->words[w->count++] = SCALARS;
	for (i = 0; i < s->scalars; i++)
		w->words[w->count++] = UINT;
	op(w, TYPE_POINTER, 3, P_SCALARS, storage, SCALARS);
	op(w, TYPE_POINTER, 3, P_SCALAR, storage, UINT);
	op(w, VARIABLE, 3, P_SCALARS, PARAMS, storage);
}

static uint32_t load_scalar(struct writer *w, const struct spirv_sum *s, uint32_t i)
{
	uint32_t pointer = w->next++, value = w->next++;

	op(w, ACCESS_CHAIN, 4, P_SCALAR, pointer, PARAMS, constant_id(s, i));
	op(w, LOAD, 3, UINT, value, pointer);
	return value;
}

static uint32_t element(struct writer *w, const struct spirv_sum *s, uint32_t buffer)
{
	uint32_t pointer = w->next++;

	op(w, ACCESS_CHAIN, 5, P_UINT, pointer, buffer_id(buffer), constant_id(s, 0), X);
	return pointer;
}

static uint32_t add(struct writer *w, uint32_t a, uint32_t b)
{
	uint32_t sum = w->next++;

	op(w, I_ADD, 4, UINT, sum, a, b);
	return sum;
}

static void body(struct writer *w, const struct spirv_sum *s)
{
	uint32_t sum = constant_id(s, 0), pointer, value, i;

	for (i = 1; i < s->buffers; i++) {
		pointer = element(w, s, i);
		value = w->next++;
		op(w, LOAD, 3, UINT, value, pointer);
		sum = add(w, sum, value);
	}
	for (i = 1; i < s->scalars; i++)
		sum = add(w, sum, load_scalar(w, s, i));
	pointer = element(w, s, 0);
	op(w, STORE, 2, pointer, sum);
}

static void function(struct writer *w, const struct spirv_sum *s)
{
	op(w, FUNCTION, 4, VOID, MAIN, 0, FUNCTION_TYPE);
	op(w, LABEL, 1, ENTRY);
	op(w, LOAD, 3, VEC3, POSITION, GID);
	op(w, COMPOSITE_EXTRACT, 4, UINT, X, POSITION, 0);
	if (s->scalars) {
		op(w, U_LESS_THAN, 4, BOOL, BELOW, X, load_scalar(w, s, 0));
		op(w, SELECTION_MERGE, 2, END, 0);
		op(w, BRANCH_CONDITIONAL, 3, BELOW, BODY, END);
		op(w, LABEL, 1, BODY);
	}
	body(w, s);
	if (s->scalars) {
		op(w, BRANCH, 1, END);
		op(w, LABEL, 1, END);
	}
	op(w, RETURN, 0);
	op(w, FUNCTION_END, 0);
}

size_t spirv_sum_write(const struct spirv_sum *s, uint32_t words[SPIRV_ROOM])
{
	struct writer w = { words, 5, FREE + s->buffers + s->scalars + 1 };

	op(&w, CAPABILITY, 1, 1);
	op(&w, MEMORY_MODEL, 2, 0, 1);
	entry_point(&w, s->name);
	op(&w, EXECUTION_MODE, 5, MAIN, 17, s->threads ? s->threads : 64, 1, 1);
	decorations(&w, s);
	types(&w, s);
	function(&w, s);
	words[0] = 0x07230203;
	words[1] = 0x00010000;
	words[2] = 0;
	words[3] = w.next;
	words[4] = 0;
	return w.count;
}
