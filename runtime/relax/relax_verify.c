/* SPDX-License-Identifier: MIT */
/* Check every operand, jump and register of the instructions. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/relax/relax_executable.h"

/* the instruction being checked, for messages */
struct place {
	const struct relax_executable *x;
	const struct relax_function *f;
	uint32_t pc;
};

static int refuse(const struct place *p, const char *format, ...) TENON_PRINTF(2, 3);

static int refuse(const struct place *p, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = tenon_error_v(-TENON_E_FORMAT, format, args);
	va_end(args);
	return tenon_error_in(err, "function \"%.*s\": instruction %" PRIu32, (int)p->f->name.size,
			      p->f->name.data, p->pc);
}

/* Number of words up to the next instruction; 0 if there are none. */
static uint32_t words_left(const struct place *p)
{
	uint32_t at = p->x->offsets[p->pc], end = p->x->word_count;

	if (p->pc + 1 < p->x->instruction_count && p->x->offsets[p->pc + 1] < end)
		end = p->x->offsets[p->pc + 1];
	return at < end ? end - at : 0;
}

static bool register_ok(const struct place *p, int64_t r)
{
	return (r >= 0 && r < p->f->registers) || r == RELAX_REGISTER_VOID ||
	       r == RELAX_REGISTER_MACHINE;
}

static int verify_register(const struct place *p, const char *what, int64_t r)
{
	if (register_ok(p, r))
		return 0;
	return refuse(p, "%s is register %" PRIi64 ", the function has %" PRIu32, what, r,
		      p->f->registers);
}

static int verify_operand(const struct place *p, int64_t n, int64_t word)
{
	int64_t v = relax_operand_value(word);

	switch (relax_operand_kind(word)) {
	case RELAX_OPERAND_REGISTER:
		if (register_ok(p, v))
			return 0;
		return refuse(
			p, "operand %" PRIi64 " is register %" PRIi64 ", the function has %" PRIu32,
			n, v, p->f->registers);
	case RELAX_OPERAND_IMMEDIATE:
		return 0;
	case RELAX_OPERAND_CONSTANT:
		if (v >= 0 && v < p->x->constant_count)
			return 0;
		return refuse(p, "operand %" PRIi64 " is constant %" PRIi64 ", there are %" PRIu32,
			      n, v, p->x->constant_count);
	case RELAX_OPERAND_FUNCTION:
		if (v >= 0 && v < p->x->function_count)
			return 0;
		return refuse(p, "operand %" PRIi64 " is function %" PRIi64 ", there are %" PRIu32,
			      n, v, p->x->function_count);
	default:
		return refuse(p,
			      "operand %" PRIi64
			      " is of kind %u; kinds are 0 (register) to 3 (function)",
			      n, (unsigned int)relax_operand_kind(word));
	}
}

static int verify_call(const struct place *p, const int64_t *w, uint32_t left)
{
	const struct relax_function *f;
	int64_t i, count;
	int err;

	if (left < 4)
		return refuse(p, "a call is cut off after %" PRIu32 " words", left);
	err = verify_register(p, "the destination", w[1]);
	if (err)
		return err;
	if (w[2] < 0 || w[2] >= p->x->function_count)
		return refuse(p, "function %" PRIi64 " is called, there are %" PRIu32, w[2],
			      p->x->function_count);
	count = w[3];
	if (count < 0 || count > left - 4)
		return refuse(p, "%" PRIi64 " operands promised, %" PRIu32 " words left", count,
			      left - 4);
	f = &p->x->functions[w[2]];
	if (f->kind != RELAX_FUNCTION_PACKED && f->args != count)
		return refuse(
			p, "function \"%.*s\" takes %" PRIu32 " arguments, %" PRIi64 " are given",
			(int)f->name.size, f->name.data, f->args, count);
	for (i = 0; i < count; i++) {
		err = verify_operand(p, i, w[4 + i]);
		if (err)
			return err;
	}
	return 0;
}

static int verify_jump(const struct place *p, int64_t offset)
{
	int64_t to;

	if (__builtin_add_overflow(p->pc, offset, &to) || to < p->f->first || to >= p->f->end)
		return refuse(p,
			      "a jump by %" PRIi64 " leaves the function (instructions %" PRIu32
			      " to %" PRIu32 ")",
			      offset, p->f->first, p->f->end - 1);
	if (!offset)
		return refuse(p, "a jump to itself");
	return 0;
}

static int verify_if(const struct place *p, const int64_t *w, uint32_t left)
{
	if (left < 3)
		return refuse(p, "a branch is cut off after %" PRIu32 " words", left);
	if (w[1] < 0 || w[1] >= p->f->registers)
		return refuse(p, "the condition is register %" PRIi64 ", the function has %" PRIu32,
			      w[1], p->f->registers);
	if (w[2] <= 1)
		return refuse(p, "a branch by %" PRIi64 "; the false side is at least 2 ahead",
			      w[2]);
	return verify_jump(p, w[2]);
}

static int verify_instruction(const struct place *p)
{
	const int64_t *w = p->x->words + p->x->offsets[p->pc];
	uint32_t left = words_left(p);
	bool last = p->pc + 1 == p->f->end;

	if (left < 2)
		return refuse(p, "stands at word %" PRIu32 " of %" PRIu32, p->x->offsets[p->pc],
			      p->x->word_count);
	switch (w[0]) {
	case RELAX_CALL:
		if (last)
			return refuse(p, "the function ends without a return");
		return verify_call(p, w, left);
	case RELAX_RET:
		if (w[1] == RELAX_REGISTER_MACHINE)
			return refuse(p, "the result is the machine itself");
		return verify_register(p, "the result", w[1]);
	case RELAX_GOTO:
		return verify_jump(p, w[1]);
	case RELAX_IF:
		return verify_if(p, w, left);
	default:
		return refuse(p, "opcode %" PRIi64 "; opcodes are 1 (call) to 4 (if)", w[0]);
	}
}

static int verify_function(const struct relax_executable *x, const struct relax_function *f)
{
	struct place p = { x, f, 0 };
	int err;

	if (f->end > x->instruction_count)
		return tenon_error(-TENON_E_FORMAT,
				   "function \"%.*s\" holds instructions %" PRIu32 " to %" PRIu32
				   ", there are %" PRIu32,
				   (int)f->name.size, f->name.data, f->first, f->end - 1,
				   x->instruction_count);
	for (p.pc = f->first; p.pc < f->end; p.pc++) {
		err = verify_instruction(&p);
		if (err)
			return err;
	}
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct relax_function *f = *(const struct relax_function *const *)a;
	const struct relax_function *g = *(const struct relax_function *const *)b;

	return f->first < g->first ? -1 : f->first > g->first;
}

/*
 * Refuse functions that share instructions: decoding would make the program larger than the file.
 */
static int verify_ranges(const struct relax_executable *x)
{
	const struct relax_function **order, *f, *g;
	uint32_t i, count = 0;
	int err = 0;

	order = malloc((x->function_count + 1) * sizeof(struct relax_function *));
	if (!order)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " functions",
				   x->function_count);
	for (i = 0; i < x->function_count; i++)
		if (x->functions[i].kind == RELAX_FUNCTION_BYTECODE)
			order[count++] = &x->functions[i];
	qsort(order, count, sizeof(struct relax_function *), by_first);
	for (i = 1; !err && i < count; i++) {
		f = order[i - 1];
		g = order[i];
		if (g->first < f->end)
			err = tenon_error(
				-TENON_E_FORMAT,
				"functions \"%.*s\" and \"%.*s\" share instruction %" PRIu32,
				(int)f->name.size, f->name.data, (int)g->name.size, g->name.data,
				g->first);
	}
	free(order);
	return err;
}

int relax_verify(const struct relax_executable *x)
{
	uint32_t i;
	int err;

	for (i = 1; i < x->instruction_count; i++)
		if (x->offsets[i] <= x->offsets[i - 1])
			return tenon_error(-TENON_E_FORMAT,
					   "instruction %" PRIu32 " begins at word %" PRIu32
					   ", want a word after %" PRIu32
					   ", where the previous one begins",
					   i, x->offsets[i], x->offsets[i - 1]);
	err = verify_ranges(x);
	for (i = 0; !err && i < x->function_count; i++)
		if (x->functions[i].kind == RELAX_FUNCTION_BYTECODE)
			err = verify_function(x, &x->functions[i]);
	return err;
}
