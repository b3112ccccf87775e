/* SPDX-License-Identifier: MIT */
/* Find out whether the memory of a model is the same in every run, for memory that the caller gives. */
#include <inttypes.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/relax/relax_model.h"

/* Builtins whose memory only depends on shapes: they take it from the pool of the machine. */
static const char *const known[] = {
	"alloc_shape_heap",
	"match_shape",
	"make_shape",
	"match_prim_value",
	"make_prim_value",
	"check_tensor_info",
	"check_shape_info",
	"check_prim_value_info",
	"check_tuple_info",
	"alloc_storage",
	"alloc_tensor",
	"null_value",
	"copy",
	"shape_of",
	"reshape",
	"ensure_zero_offset",
	"make_tuple",
	"tuple_getitem",
	"tuple_reset_item",
	"read_if_cond",
};

static bool is_known(struct tenon_slice name)
{
	static const char prefix[] = "vm.builtin.";
	const size_t head = sizeof(prefix) - 1;
	size_t i;

	if (name.size < head || memcmp(name.data, prefix, head))
		return false;
	name.data += head;
	name.size -= head;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (tenon_slice_equal(name, tenon_slice_of(known[i])))
			return true;
	return false;
}

static bool is_compiled(const struct relax_executable *x, struct tenon_slice name)
{
	struct tenon_function *f = NULL;
	size_t i;

	for (i = 0; i < x->module.import_count && !f; i++)
		if (tenon_module_find_function(x->module.imports[i], name, true, &f))
			tenon_error_clear();
	tenon_object_unref(f);
	return f;
}

static int check_callee(const struct relax_executable *x, uint32_t function)
{
	const struct relax_function *f = &x->functions[function];

	if (f->kind == RELAX_FUNCTION_BYTECODE)
		return 0;
	if (f->kind == RELAX_FUNCTION_PACKED && (is_known(f->name) || is_compiled(x, f->name)))
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED, "call of %.*s, which takes memory on its own",
			   (int)f->name.size, f->name.data);
}

static int check_instruction(const struct relax_executable *x, uint32_t pc, uint8_t *reached)
{
	const int64_t *w = x->words + x->offsets[pc];
	uint32_t callee;

	if (w[0] == RELAX_IF)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a branch: which memory it needs depends on data");
	if (w[0] != RELAX_CALL)
		return 0;
	callee = (uint32_t)w[2];
	reached[callee] |= 1;
	return check_callee(x, callee);
}

static int check_function(const struct relax_executable *x, uint32_t function, uint8_t *reached)
{
	const struct relax_function *f = &x->functions[function];
	uint32_t pc;
	int err = 0;

	if (f->kind == RELAX_FUNCTION_NATIVE)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%.*s is compiled as a whole: its need of memory cannot be computed",
			(int)f->name.size, f->name.data);
	for (pc = f->first; f->kind == RELAX_FUNCTION_BYTECODE && pc < f->end && !err; pc++) {
		err = check_instruction(x, pc, reached);
		if (err)
			tenon_error_in(err, "%.*s, instruction %" PRIu32, (int)f->name.size,
				       f->name.data, pc - f->first);
	}
	return err;
}

int relax_model_bounded(struct tenon_model *model)
{
	enum { REACHED = 1, CHECKED = 2 };
	struct relax_model *m = (struct relax_model *)model;
	uint32_t i, n = m->x->function_count;
	uint8_t *reached = heap_take(HEAP_TEMPORARY, 1, (size_t)n + 1, "functions that are called");
	bool again = true;
	int err = 0;

	if (!reached)
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of %" PRIu32 " functions",
				   n);
	memset(reached, 0, n);
	reached[m->function] = REACHED;
	while (again && !err) {
		again = false;
		for (i = 0; i < n && !err; i++) {
			if (reached[i] != REACHED)
				continue;
			reached[i] |= CHECKED;
			err = check_function(m->x, i, reached);
			again = true;
		}
	}
	heap_free(reached);
	return err;
}
