/* SPDX-License-Identifier: MIT */
/* Read the functions and instructions of an executable. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_executable.h"

/* size of the smallest function entry: kind, empty name, four numbers, no parameter names */
#define FUNCTION_LEAST (4 + 8 + 4 * 8 + 8)

static int read_i64(struct tenon_cursor *c, int64_t *out)
{
	uint64_t v;
	int err = tenon_cursor_u64(c, &v);

	*out = (int64_t)v;
	return err;
}

static int bad_function(const struct tenon_cursor *c, struct tenon_slice name, const char *what,
			int64_t found)
{
	return tenon_cursor_error(c, -TENON_E_FORMAT, "function \"%.*s\": %s %" PRIi64,
				  (int)name.size, name.data, what, found);
}

static int read_params(struct tenon_cursor *c, struct relax_function *f)
{
	uint64_t count, i;
	int err;

	err = tenon_cursor_count(c, 8, &count);
	if (err)
		return err;
	if (count && count != f->args)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "function \"%.*s\" has %" PRIu32
					  " parameters and names %" PRIu64,
					  (int)f->name.size, f->name.data, f->args, count);
	if (!count)
		return 0;
	f->params = calloc(count, sizeof(*f->params));
	if (!f->params)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " parameter names",
				   count);
	f->param_count = (uint32_t)count;
	for (i = 0; i < count; i++) {
		err = tenon_cursor_string(c, &f->params[i]);
		if (err)
			return tenon_error_in(err, "function \"%.*s\": parameter %" PRIu64,
					      (int)f->name.size, f->name.data, i);
	}
	return 0;
}

/* relax_verify() later checks these numbers against the instructions. */
static int read_ranges(struct tenon_cursor *c, struct relax_function *f, int64_t kind)
{
	struct tenon_cursor at = *c;
	int64_t first, end, args, registers;
	int err;

	err = read_i64(c, &first);
	if (!err)
		err = read_i64(c, &end);
	if (!err)
		err = read_i64(c, &args);
	if (!err)
		err = read_i64(c, &registers);
	if (err)
		return tenon_error_in(err, "function \"%.*s\"", (int)f->name.size, f->name.data);
	if (kind < RELAX_FUNCTION_PACKED || kind > RELAX_FUNCTION_NATIVE)
		return bad_function(&at, f->name,
				    "kind 0 (packed), 1 (bytecode) or 2 (native) expected, found",
				    kind);
	f->kind = (enum relax_function_kind)kind;
	if (f->kind == RELAX_FUNCTION_PACKED)
		return 0;
	if (args < 0 || args > RELAX_REGISTERS_MOST)
		return bad_function(&at, f->name, "number of parameters", args);
	if (registers < args || registers > RELAX_REGISTERS_MOST)
		return bad_function(
			&at, f->name,
			"a register for each parameter, and at most 1048576, expected, found",
			registers);
	f->args = (uint32_t)args;
	f->registers = (uint32_t)registers;
	if (f->kind == RELAX_FUNCTION_NATIVE) {
		if (registers == args)
			return bad_function(
				&at, f->name,
				"a register for the result expected behind the parameters'",
				registers);
		return 0;
	}
	if (first < 0 || first > UINT32_MAX)
		return bad_function(&at, f->name, "first instruction", first);
	if (end <= first || end > UINT32_MAX)
		return bad_function(&at, f->name, "end of its instructions", end);
	f->first = (uint32_t)first;
	f->end = (uint32_t)end;
	return 0;
}

static int read_function(struct tenon_cursor *c, struct relax_function *f)
{
	uint32_t kind;
	int err;

	err = tenon_cursor_u32(c, &kind);
	if (!err)
		err = tenon_cursor_string(c, &f->name);
	if (!err && !f->name.size)
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "a function without a name");
	if (!err)
		err = read_ranges(c, f, (int32_t)kind);
	if (!err)
		err = read_params(c, f);
	return err;
}

int relax_read_functions(struct relax_executable *x, struct tenon_cursor *c)
{
	uint64_t count;
	void **slot;
	int err;

	err = tenon_cursor_count(c, FUNCTION_LEAST, &count);
	if (err)
		return tenon_error_in(err, "function table");
	if (count > INT32_MAX / 2)
		return tenon_cursor_error(c, -TENON_E_OVERFLOW, "%" PRIu64 " functions", count);
	x->functions = calloc(count ? count : 1, sizeof(*x->functions));
	if (!x->functions || string_map_reserve(&x->names, count))
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " functions", count);
	while (x->function_count < count) {
		/* Count it before reading, so that a failed read frees its members. */
		struct relax_function *f = &x->functions[x->function_count++];

		err = read_function(c, f);
		if (err)
			return tenon_error_in(err, "entry %" PRIu32 " of the function table",
					      x->function_count - 1);
		slot = string_map_slot(&x->names, f->name);
		if (!slot)
			return tenon_error(-TENON_E_NOMEM, "no memory for the names of functions");
		if (*slot)
			return tenon_cursor_error(c, -TENON_E_FORMAT,
						  "function \"%.*s\" is there twice",
						  (int)f->name.size, f->name.data);
		*slot = (void *)(uintptr_t)x->function_count;
	}
	return 0;
}

static int read_offsets(struct relax_executable *x, struct tenon_cursor *c)
{
	uint64_t count, i, offset;
	int err;

	err = tenon_cursor_count(c, 8, &count);
	if (err)
		return tenon_error_in(err, "places of instructions");
	if (count > INT32_MAX / 2)
		return tenon_cursor_error(c, -TENON_E_OVERFLOW, "%" PRIu64 " instructions", count);
	x->offsets = malloc((count + 1) * sizeof(*x->offsets));
	if (!x->offsets)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " instructions", count);
	for (i = 0; i < count; i++) {
		/* The count was checked, so this read cannot fail. */
		tenon_cursor_u64(c, &offset);
		if (offset >= INT32_MAX)
			return tenon_cursor_error(c, -TENON_E_FORMAT,
						  "instruction %" PRIu64 " stands at word %" PRIu64,
						  i, offset);
		x->offsets[i] = (uint32_t)offset;
	}
	x->instruction_count = (uint32_t)count;
	return 0;
}

int relax_read_instructions(struct relax_executable *x, struct tenon_cursor *c)
{
	uint64_t count, i, word;
	int err;

	err = read_offsets(x, c);
	if (err)
		return err;
	err = tenon_cursor_count(c, 8, &count);
	if (err)
		return tenon_error_in(err, "instructions");
	if (count > INT32_MAX / 2)
		return tenon_cursor_error(c, -TENON_E_OVERFLOW, "%" PRIu64 " words of instructions",
					  count);
	x->words = malloc((count + 1) * sizeof(*x->words));
	if (!x->words)
		return tenon_error(-TENON_E_NOMEM,
				   "no memory for %" PRIu64 " words of instructions", count);
	for (i = 0; i < count; i++) {
		tenon_cursor_u64(c, &word);
		x->words[i] = (int64_t)word;
	}
	x->word_count = (uint32_t)count;
	return 0;
}
