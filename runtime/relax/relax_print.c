/* SPDX-License-Identifier: MIT */
/* Print executables as TVM's as_text, as_python and stats do. */
#include <inttypes.h>
#include <tenon/array.h>
#include <tenon/backend/buffer.h>
#include <tenon/tensor.h>

#include "lib/number.h"
#include "runtime/relax/relax_executable.h"

/* Print executables in the format of TVM's as_text, as_python and stats. */

#define ARGUMENTS_WIDTH 12 /* of the column of arguments in as_text, at least */

static void print_extents(const int64_t *extents, size_t count, struct tenon_buffer *out)
{
	size_t i;

	tenon_buffer_printf(out, "[");
	for (i = 0; i < count; i++)
		tenon_buffer_printf(out, "%s%" PRIi64, i ? ", " : "", extents[i]);
	tenon_buffer_printf(out, "]");
}

static int print_value(const struct tenon_value *v, struct tenon_buffer *out)
{
	char name[TENON_DTYPE_NAME], number[NUMBER_ROOM];
	struct tenon_slice text;

	switch (v->type) {
	case TENON_TYPE_INT:
		return tenon_buffer_printf(out, "%" PRIi64, v->as.integer);
	case TENON_TYPE_FLOAT:
		return tenon_buffer_printf(out, "%s", number_print(number, 6, v->as.real));
	case TENON_TYPE_DTYPE:
		return tenon_buffer_printf(out, "%s", tenon_dtype_name(v->as.dtype, name));
	case TENON_TYPE_SHAPE:
		tenon_buffer_printf(out, "shapetuple");
		print_extents(((struct tenon_shape *)v->as.object)->data,
			      ((struct tenon_shape *)v->as.object)->size, out);
		return out->status;
	case TENON_TYPE_TENSOR:
		if (!((struct tenon_tensor *)v->as.object)->dl.ndim)
			return tenon_buffer_printf(out, "scalar");
		print_extents(((struct tenon_tensor *)v->as.object)->dl.shape,
			      (size_t)((struct tenon_tensor *)v->as.object)->dl.ndim, out);
		return out->status;
	default:
		if (!tenon_value_text(v, &text))
			return tenon_buffer_printf(out, "\"%.*s\"", (int)text.size, text.data);
		tenon_error_clear();
		return tenon_buffer_printf(out, "%s", tenon_type_key(v->type));
	}
}

static void print_register(int64_t r, struct tenon_buffer *out)
{
	if (r == RELAX_REGISTER_VOID)
		tenon_buffer_printf(out, "%%void");
	else if (r == RELAX_REGISTER_MACHINE)
		tenon_buffer_printf(out, "%%vm");
	else
		tenon_buffer_printf(out, "%%%" PRIi64, r);
}

static void print_operand(const struct relax_executable *x, int64_t word, struct tenon_buffer *out)
{
	const struct relax_function *f;
	int64_t v = relax_operand_value(word);

	switch (relax_operand_kind(word)) {
	case RELAX_OPERAND_REGISTER:
		print_register(v, out);
		break;
	case RELAX_OPERAND_IMMEDIATE:
		tenon_buffer_printf(out, "i%" PRIi64, v);
		break;
	case RELAX_OPERAND_CONSTANT:
		tenon_buffer_printf(out, "c[%" PRIi64 "]", v);
		break;
	default:
		f = &x->functions[v];
		tenon_buffer_printf(out, "f[%.*s]", (int)f->name.size, f->name.data);
	}
}

static void print_call(const struct relax_executable *x, const int64_t *w, struct tenon_buffer *out)
{
	const struct relax_function *f = &x->functions[w[2]];
	size_t start;
	int64_t i;

	tenon_buffer_printf(out, "  call  %-16.*s in: ", (int)f->name.size, f->name.data);
	start = out->size;
	for (i = 0; i < w[3]; i++) {
		if (i)
			tenon_buffer_printf(out, ", ");
		print_operand(x, w[4 + i], out);
	}
	if (out->size - start < ARGUMENTS_WIDTH)
		tenon_buffer_printf(out, "%*s", (int)(ARGUMENTS_WIDTH - (out->size - start)), "");
	tenon_buffer_printf(out, " dst: ");
	print_register(w[1], out);
}

static void print_instruction(const struct relax_executable *x, uint32_t pc,
			      struct tenon_buffer *out)
{
	const int64_t *w = x->words + x->offsets[pc];

	switch (w[0]) {
	case RELAX_CALL:
		print_call(x, w, out);
		break;
	case RELAX_RET:
		tenon_buffer_printf(out, "  ret   ");
		print_register(w[1], out);
		break;
	case RELAX_GOTO:
		tenon_buffer_printf(out, "  goto  %" PRIi64, w[1]);
		break;
	default:
		tenon_buffer_printf(out, "  If    ");
		print_register(w[1], out);
		tenon_buffer_printf(out, ", %" PRIi64, w[2]);
	}
	tenon_buffer_printf(out, "\n");
}

int relax_print_text(const struct relax_executable *x, struct tenon_buffer *out)
{
	const struct relax_function *f;
	uint32_t i, pc;

	for (i = 0; i < x->function_count; i++) {
		f = &x->functions[i];
		if (f->kind == RELAX_FUNCTION_PACKED) {
			tenon_buffer_printf(out, "@%.*s packed_func;\n\n", (int)f->name.size,
					    f->name.data);
			continue;
		}
		if (f->kind == RELAX_FUNCTION_NATIVE) {
			tenon_buffer_printf(out, "@%.*s num_inputs=%" PRIu32 " vm_tir_func;\n\n",
					    (int)f->name.size, f->name.data, f->args);
			continue;
		}
		tenon_buffer_printf(out, "@%.*s:\n", (int)f->name.size, f->name.data);
		for (pc = f->first; pc < f->end; pc++)
			print_instruction(x, pc, out);
		tenon_buffer_printf(out, "\n");
	}
	return out->status;
}

static void print_python_register(int64_t r, struct tenon_buffer *out)
{
	if (r == RELAX_REGISTER_MACHINE)
		tenon_buffer_printf(out, "ib.r(vm)");
	else
		tenon_buffer_printf(out, "ib.r(%" PRIi64 ")", r);
}

static void print_python_operand(const struct relax_executable *x, int64_t word,
				 struct tenon_buffer *out)
{
	const struct relax_function *f;
	int64_t v = relax_operand_value(word);

	switch (relax_operand_kind(word)) {
	case RELAX_OPERAND_REGISTER:
		print_python_register(v, out);
		break;
	case RELAX_OPERAND_IMMEDIATE:
		tenon_buffer_printf(out, "ib.imm(%" PRIi64 ")", v);
		break;
	case RELAX_OPERAND_CONSTANT:
		tenon_buffer_printf(out, "ib.c(%" PRIi64 ")", v);
		break;
	default:
		f = &x->functions[v];
		tenon_buffer_printf(out, "ib.f(\"%.*s\")", (int)f->name.size, f->name.data);
	}
}

static void print_python_call(const struct relax_executable *x, const int64_t *w,
			      struct tenon_buffer *out)
{
	const struct relax_function *f = &x->functions[w[2]];
	int64_t i;

	tenon_buffer_printf(out, "    ib.emit_call(\"%.*s\", args=[", (int)f->name.size,
			    f->name.data);
	for (i = 0; i < w[3]; i++) {
		if (i)
			tenon_buffer_printf(out, ", ");
		print_python_operand(x, w[4 + i], out);
	}
	tenon_buffer_printf(out, "]");
	if (w[1] != RELAX_REGISTER_VOID)
		tenon_buffer_printf(out, ", dst=ib.r(%" PRIi64 ")", w[1]);
	tenon_buffer_printf(out, ")\n");
}

static void print_python_instruction(const struct relax_executable *x, uint32_t pc,
				     struct tenon_buffer *out)
{
	const int64_t *w = x->words + x->offsets[pc];

	switch (w[0]) {
	case RELAX_CALL:
		print_python_call(x, w, out);
		break;
	case RELAX_RET:
		tenon_buffer_printf(out, "    ib.emit_ret(ib.r(%" PRIi64 "))\n", w[1]);
		break;
	case RELAX_GOTO:
		tenon_buffer_printf(out, "    ib.emit_goto(%" PRIi64 ")\n", w[1]);
		break;
	default:
		tenon_buffer_printf(out, "    ib.emit_if(ib.r(%" PRIi64 "), %" PRIi64 ")\n", w[1],
				    w[2]);
	}
}

int relax_print_python(const struct relax_executable *x, struct tenon_buffer *out)
{
	const struct relax_function *f;
	uint32_t i, pc;

	tenon_buffer_printf(out, "ib = rx.Builder()\n");
	for (i = 0; i < x->function_count; i++) {
		f = &x->functions[i];
		if (f->kind != RELAX_FUNCTION_BYTECODE)
			continue;
		tenon_buffer_printf(out, "with ib.function(\"%.*s\", num_inputs=%" PRIu32 "):\n",
				    (int)f->name.size, f->name.data, f->args);
		for (pc = f->first; pc < f->end; pc++)
			print_python_instruction(x, pc, out);
	}
	return out->status;
}

int relax_print_stats(const struct relax_executable *x, struct tenon_buffer *out)
{
	uint32_t i;

	tenon_buffer_printf(out,
			    "Relax VM executable statistics:\n  Constant pool (# %" PRIu32 "): [",
			    x->constant_count);
	for (i = 0; i < x->constant_count; i++) {
		if (i)
			tenon_buffer_printf(out, ", ");
		print_value(&x->constants[i], out);
	}
	tenon_buffer_printf(out, "]\n  Globals (#%" PRIu32 "): [", x->function_count);
	for (i = 0; i < x->function_count; i++)
		tenon_buffer_printf(out, "%s%.*s", i ? ", " : "", (int)x->functions[i].name.size,
				    x->functions[i].name.data);
	tenon_buffer_printf(out, "]\n");
	return out->status;
}
