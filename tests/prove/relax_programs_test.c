/* SPDX-License-Identifier: MIT */
/*
 * Random Relax programs beside a small slow interpreter. Both have the same result, the same calls of functions of the
 * host, or fail at the same instruction.
 *
 * Each register holds values of one sort, or None, so that most programs run for a while. SEED makes other programs.
 */
#include "tests/unit/relax_assembler.h"

#include <stdio.h>
#include <stdlib.h>

enum sort { NUMBER, TUPLE, SHAPE, TRUTH, NEST, CLOSURE, HEAP, SORTS };

#define PROGRAMS   200
#define FUNCTIONS  4 /* of bytecode */
#define REGISTERS  (2 * SORTS)
#define STEPS_MOST 40
#define OPS_MOST   (REGISTERS + STEPS_MOST + 2)
#define OPERANDS   12
#define HEAP_SIZE  3
#define BUDGET	   300
#define ARENA	   (1 << 18)

/* what the programs call; bytecode functions follow */
enum callee {
	MIX,
	LESS,
	MAKE_TUPLE,
	GET_ITEM,
	MAKE_SHAPE,
	MATCH_SHAPE,
	MAKE_NUMBER,
	COPY,
	NULL_VALUE,
	ALLOC_HEAP,
	MAKE_CLOSURE,
	INVOKE,
	MAIN,
};

static const char *const callees[] = {
	"test.prove.mix",
	"test.prove.less",
	"vm.builtin.make_tuple",
	"vm.builtin.tuple_getitem",
	"vm.builtin.make_shape",
	"vm.builtin.match_shape",
	"vm.builtin.make_prim_value",
	"vm.builtin.copy",
	"vm.builtin.null_value",
	"vm.builtin.alloc_shape_heap",
	"vm.builtin.make_closure",
	"vm.builtin.invoke_closure",
};
static const char *const names[FUNCTIONS] = { "main", "second", "third", "fourth" };
/* constants of each program */
static const int64_t numbers[] = { 0, -3, INT64_MAX, INT64_MIN };

struct op {
	int64_t code; /* RELAX_CALL and others */
	int64_t dst;  /* of a call; the register of a return or a branch */
	int64_t callee;
	int64_t offset;
	int64_t operands[OPERANDS];
	uint32_t count;
};

struct function {
	struct op ops[OPS_MOST];
	uint32_t count, first, args;
	enum sort result;
};

static struct function functions[FUNCTIONS];
static uint64_t state;

static uint32_t pick(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

/* ---- functions of the host, for both */

struct calls {
	uint64_t count, sum;
};
static struct calls have, want;

static int64_t note(struct calls *calls, int64_t result)
{
	calls->count++;
	calls->sum = calls->sum * 33 + (uint64_t)result;
	return result;
}

/* Small numbers, of which some are negative and some are 0. */
static int64_t mixed(const int64_t *values, uint32_t count)
{
	uint64_t sum = 17;
	uint32_t i;

	for (i = 0; i < count; i++)
		sum = sum * 31 + (uint64_t)values[i] + (uint64_t)values[i] / 61;
	return (int64_t)(sum % 8) - 3;
}

static int read_numbers(const struct tenon_value *args, int32_t count, int64_t *out)
{
	int32_t i;

	for (i = 0; i < count; i++) {
		if (args[i].type != TENON_TYPE_INT && args[i].type != TENON_TYPE_BOOL)
			return tenon_error(-TENON_E_TYPE, "no number");
		out[i] = args[i].as.integer;
	}
	return 0;
}

static int mix(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t values[OPERANDS];
	int err = read_numbers(args, count, values);

	(void)self;
	*ret = tenon_arg_none();
	if (!err)
		*ret = tenon_arg_int(note(&have, mixed(values, (uint32_t)count)));
	return err;
}

static int less(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	int64_t values[OPERANDS];
	int err = read_numbers(args, count, values);

	(void)self;
	*ret = tenon_arg_none();
	if (!err)
		*ret = tenon_arg_bool(note(&have, values[0] < values[1]));
	return err;
}

/* ---- a random program */

static enum sort sort_of(uint32_t r)
{
	return (enum sort)(r % SORTS);
}

static int64_t some_register(enum sort sort)
{
	return (int64_t)(sort + SORTS * pick(REGISTERS / SORTS));
}

static int64_t some_number(void)
{
	switch (pick(8)) {
	case 0:
		return CONST(pick(sizeof(numbers) / sizeof(numbers[0])));
	case 1:
	case 2:
		return IMM((int64_t)pick(9) - 4);
	case 3:
		return some_register(TRUTH);
	default:
		return some_register(NUMBER);
	}
}

static struct op *new_op(struct function *f, int64_t code, int64_t dst)
{
	struct op *op = &f->ops[f->count++];

	*op = (struct op){ .code = code, .dst = dst };
	return op;
}

static void operand(struct op *op, int64_t word)
{
	op->operands[op->count++] = word;
}

/* A call whose operands follow; @dst is the register of its result. */
static struct op *new_call(struct function *f, int64_t callee, int64_t dst)
{
	struct op *op = new_op(f, RELAX_CALL, dst);

	op->callee = callee;
	return op;
}

/* Codes of a shape that is made, or matched: most matched extents are stored, or may be any. */
static void add_codes(struct op *op, bool match)
{
	uint32_t count = pick(16) ? 2 : pick(4), i, code;

	operand(op, IMM(count));
	for (i = 0; i < count; i++) {
		code = !match ? pick(2) : pick(16) ? 1 + pick(2) : pick(4);
		operand(op, IMM(code));
		/* a place that is not in the heap, now and then */
		operand(op, IMM(pick(code ? HEAP_SIZE : 4) + (pick(256) == 0)));
	}
}

/* The arguments of a bytecode function from number @from on */
static void add_arguments(struct op *op, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		operand(op, some_register(sort_of(from)));
}

static void add_closure(struct function *f, int64_t dst)
{
	struct op *op = new_call(f, MAKE_CLOSURE, dst);
	uint32_t callee, bound;

	/* the last one's result is a number */
	do
		callee = pick(FUNCTIONS);
	while (functions[callee].result != NUMBER);
	operand(op, FUNC(MAIN + callee));
	/* what calls it gives one more */
	bound = functions[callee].args ? functions[callee].args - 1 : 0;
	add_arguments(op, functions[callee].args - bound, functions[callee].args);
}

/* A call that puts a value of the sort there. */
static void add_value(struct function *f, enum sort sort, int64_t dst)
{
	uint32_t count = 1 + pick(3), i;
	struct op *op;

	switch (sort) {
	case NUMBER:
	case TRUTH:
		op = new_call(f, sort == TRUTH ? LESS : MIX, dst);
		count = sort == TRUTH ? 2 : pick(5);
		for (i = 0; i < count; i++)
			operand(op, some_number());
		break;
	case TUPLE:
	case NEST:
		op = new_call(f, MAKE_TUPLE, dst);
		for (i = 0; i < count; i++)
			operand(op, sort == NEST ? some_register(TUPLE) : some_number());
		break;
	case SHAPE:
		op = new_call(f, MAKE_SHAPE, dst);
		operand(op, some_register(HEAP));
		add_codes(op, false);
		break;
	case HEAP:
		op = new_call(f, ALLOC_HEAP, dst);
		operand(op, MACHINE_REG);
		operand(op, IMM(HEAP_SIZE));
		break;
	default:
		add_closure(f, dst);
	}
}

/* Most functions begin with a value in each register. */
static void add_prologue(struct function *f)
{
	static const enum sort order[SORTS] = { HEAP, TRUTH, NUMBER, TUPLE, SHAPE, NEST, CLOSURE };
	uint32_t i, r, all = pick(16);
	struct op *op;

	for (i = 0; i < SORTS && all; i++)
		for (r = order[i]; r < REGISTERS; r += SORTS) {
			if (r < f->args)
				continue;
			if (order[i] != TRUTH && order[i] != NUMBER) {
				add_value(f, order[i], r);
				continue;
			}
			op = new_call(f, order[i] == TRUTH ? LESS : MIX, r);
			operand(op, IMM(pick(9)));
			operand(op, IMM(pick(9)));
		}
}

static void add_read(struct function *f)
{
	bool nest = pick(2);
	struct op *op;

	switch (pick(4)) {
	case 0:
		op = new_call(f, MATCH_SHAPE, VOID_REG);
		operand(op, some_register(SHAPE));
		operand(op, some_register(HEAP));
		add_codes(op, true);
		break;
	case 1:
		op = new_call(f, MAKE_NUMBER, some_register(NUMBER));
		operand(op, some_register(HEAP));
		operand(op, IMM(pick(2)));
		operand(op, IMM(pick(HEAP_SIZE)));
		break;
	default:
		op = new_call(f, GET_ITEM, some_register(nest ? TUPLE : NUMBER));
		operand(op, some_register(nest ? NEST : TUPLE));
		operand(op, IMM(pick(16) ? 0 : pick(4)));
	}
}

/* Mostly of functions behind this one, so that most programs end. */
static void add_call(struct function *f)
{
	uint32_t self = (uint32_t)(f - functions);
	uint32_t callee = pick(6) && self + 1 < FUNCTIONS ? self + 1 + pick(FUNCTIONS - self - 1)
							  : pick(FUNCTIONS);
	struct op *op;

	if (pick(3)) {
		op = new_call(f, MAIN + callee, some_register(functions[callee].result));
		add_arguments(op, 0, functions[callee].args);
		return;
	}
	op = new_call(f, INVOKE, some_register(NUMBER));
	operand(op, MACHINE_REG);
	operand(op, some_register(CLOSURE));
	add_arguments(op, 0, pick(16) ? 1 : pick(3));
}

/* A branch over some of the next instructions; @end is the last one's number, a return. */
static void add_branch(struct function *f, uint32_t end)
{
	uint32_t left = end - f->count;
	int64_t back;

	if (left < 3)
		return;
	switch (pick(8)) {
	case 0: /* a loop */
		new_op(f, RELAX_IF, some_register(pick(2) ? NUMBER : TRUTH))->offset = 2;
		back = 1 + (int64_t)pick(f->count);
		new_op(f, RELAX_GOTO, 0)->offset = -back;
		break;
	case 1:
	case 2:
		new_op(f, RELAX_GOTO, 0)->offset = 1 + pick(left < 4 ? left - 1 : 3);
		break;
	default:
		new_op(f, RELAX_IF, some_register(pick(32) ? pick(2) ? NUMBER : TRUTH : SHAPE))
			->offset = 2 + pick(left - 2 < 6 ? left - 2 : 6);
	}
}

static void make_function(struct function *f)
{
	uint32_t end;
	enum sort sort;

	f->count = 0;
	add_prologue(f);
	end = f->count + 1 + pick(STEPS_MOST);
	while (f->count < end)
		switch (pick(10)) {
		case 0:
			add_call(f);
			break;
		case 1:
		case 2:
			add_branch(f, end);
			break;
		case 3:
		case 4:
			add_read(f);
			break;
		case 5:
			sort = (enum sort)pick(SORTS);
			if (pick(4))
				operand(new_call(f, COPY, some_register(sort)),
					some_register(sort));
			else if (pick(8))
				new_op(f, RELAX_RET, some_register(f->result));
			else
				new_call(f, NULL_VALUE, some_register(sort));
			break;
		default:
			sort = (enum sort)pick(SORTS);
			add_value(f, sort, pick(16) ? some_register(sort) : VOID_REG);
		}
	new_op(f, RELAX_RET, some_register(f->result));
}

static void make_program(void)
{
	uint32_t i;

	for (i = 0; i < FUNCTIONS; i++) {
		functions[i].args = !i ? 1 : pick(8) ? 1 + pick(4) : 0;
		functions[i].result = i + 1 < FUNCTIONS ? (enum sort)pick(SORTS) : NUMBER;
	}
	for (i = 0; i < FUNCTIONS; i++) {
		make_function(&functions[i]);
		functions[i].first = i ? functions[i - 1].first + functions[i - 1].count : 0;
	}
}

static struct relax_vm *machine(void)
{
	struct assembly a = ASSEMBLY_INIT;
	const struct op *op;
	uint32_t i, k;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		constant_int(&a, numbers[i]);
	for (i = 0; i < MAIN; i++)
		assemble_packed(&a, callees[i]);
	for (i = 0; i < FUNCTIONS; i++) {
		assemble_function(&a, names[i], functions[i].args, REGISTERS);
		for (k = 0; k < functions[i].count; k++) {
			op = &functions[i].ops[k];
			if (op->code == RELAX_CALL)
				assemble_call(&a, op->dst, op->callee, op->operands, op->count);
			else if (op->code == RELAX_RET)
				assemble_ret(&a, op->dst);
			else if (op->code == RELAX_GOTO)
				assemble_goto(&a, op->offset);
			else
				assemble_if(&a, op->dst, op->offset);
		}
	}
	return machine_of(&a);
}

/* ---- the interpreter */

enum form { NONE, INTEGER, BOOLEAN, ITEMS, EXTENTS, PLACES, BOUND };

/* @number: of a closure its function; the items of a shape and a heap are numbers */
struct value {
	enum form form;
	int64_t number;
	uint32_t count;
	struct value *items;
};

enum { FAILED = 1, OUT_OF_BUDGET };

static struct value arena[ARENA];
static uint32_t arena_used;
static int64_t budget;
/* where it failed */
static const char *failed_in;
static uint32_t failed_at;

static struct value list(enum form form, uint32_t count)
{
	struct value v = { form, 0, count, arena + arena_used };

	assert_true(ARENA - arena_used >= count);
	memset(v.items, 0, count * sizeof(*v.items));
	arena_used += count;
	return v;
}

static struct value number(int64_t n)
{
	return (struct value){ INTEGER, n, 0, NULL };
}

static bool is_number(const struct value *v)
{
	return v->form == INTEGER || v->form == BOOLEAN;
}

static struct value read_operand(const struct value *registers, int64_t word)
{
	int64_t v = relax_operand_value(word);

	switch (relax_operand_kind(word)) {
	case RELAX_OPERAND_REGISTER:
		return v < REGISTERS ? registers[v] : (struct value){ NONE, 0, 0, NULL };
	case RELAX_OPERAND_IMMEDIATE:
		return number(v);
	case RELAX_OPERAND_CONSTANT:
		return number(numbers[v]);
	default:
		return (struct value){ BOUND, v - MAIN, 0, NULL };
	}
}

static int host_call(bool compares, const struct value *args, uint32_t count, struct value *ret)
{
	int64_t values[OPERANDS];
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!is_number(&args[i]))
			return FAILED;
		values[i] = args[i].number;
	}
	*ret = number(note(&want, compares ? values[0] < values[1] : mixed(values, count)));
	ret->form = compares ? BOOLEAN : INTEGER;
	return 0;
}

/* The number that a code stands for, and its place in the heap; NULL where there is none. */
static struct value *coded(const struct value *heap, const struct value *code, struct value *plain)
{
	if (!code[0].number) {
		*plain = code[1];
		return plain;
	}
	return code[1].number < heap->count ? &heap->items[code[1].number] : NULL;
}

static int make_shape(const struct value *args, struct value *ret)
{
	uint32_t count = (uint32_t)args[1].number, i;
	struct value *from, plain;

	*ret = list(EXTENTS, count);
	for (i = 0; i < count; i++) {
		from = coded(&args[0], &args[2 + 2 * i], &plain);
		if (!from)
			return FAILED;
		ret->items[i] = number(from->number);
	}
	return 0;
}

static int match_shape(const struct value *args)
{
	const struct value *shape = &args[0];
	uint32_t count = (uint32_t)args[2].number, i;
	struct value *at, plain;
	int64_t code;

	if (shape->form != EXTENTS || shape->count != count)
		return FAILED;
	for (i = 0; i < count; i++) {
		code = args[3 + 2 * i].number;
		at = coded(&args[1], &args[3 + 2 * i], &plain);
		if (code == 2)
			continue;
		if (!at)
			return FAILED;
		if (code == 1)
			*at = number(shape->items[i].number);
		else if (at->number != shape->items[i].number)
			return FAILED;
	}
	return 0;
}

static int run(uint32_t function, const struct value *args, uint32_t count, struct value *ret);

/* Call a closure: what was bound is behind the other arguments. */
static int invoke(const struct value *closure, const struct value *args, uint32_t count,
		  struct value *ret)
{
	struct value all[2 * OPERANDS];

	if (closure->form != BOUND)
		return FAILED;
	memcpy(all, args, count * sizeof(*args));
	if (closure->count)
		memcpy(all + count, closure->items, closure->count * sizeof(*args));
	return run((uint32_t)closure->number, all, count + closure->count, ret);
}

static int call(const struct op *op, const struct value *args, struct value *ret)
{
	struct value plain, *from;
	uint32_t i;

	switch (op->callee) {
	case MIX:
	case LESS:
		return host_call(op->callee == LESS, args, op->count, ret);
	case MAKE_TUPLE:
		*ret = list(ITEMS, op->count);
		memcpy(ret->items, args, op->count * sizeof(*args));
		return 0;
	case GET_ITEM:
		if (args[0].form != ITEMS || args[1].number >= args[0].count)
			return FAILED;
		*ret = args[0].items[args[1].number];
		return 0;
	case MAKE_SHAPE:
		return make_shape(args, ret);
	case MATCH_SHAPE:
		return match_shape(args);
	case MAKE_NUMBER:
		from = coded(&args[0], &args[1], &plain);
		*ret = number(from ? from->number : 0);
		return from ? 0 : FAILED;
	case COPY:
		*ret = args[0];
		return 0;
	case NULL_VALUE:
		return 0;
	case ALLOC_HEAP:
		*ret = list(PLACES, HEAP_SIZE);
		for (i = 0; i < HEAP_SIZE; i++)
			ret->items[i] = number(0);
		return 0;
	case MAKE_CLOSURE:
		*ret = list(BOUND, op->count - 1);
		ret->number = args[0].number;
		memcpy(ret->items, args + 1, ret->count * sizeof(*args));
		return 0;
	case INVOKE:
		return invoke(&args[1], args + 2, op->count - 2, ret);
	default:
		return run((uint32_t)op->callee - MAIN, args, op->count, ret);
	}
}

/* One instruction, and where it goes on. */
static int step(const struct op *op, struct value *registers, uint32_t *pc)
{
	struct value args[OPERANDS], ret = { NONE, 0, 0, NULL };
	uint32_t i;
	int err;

	switch (op->code) {
	case RELAX_GOTO:
		if (op->offset < 0 && !budget--)
			return OUT_OF_BUDGET;
		*pc += (uint32_t)op->offset;
		return 0;
	case RELAX_IF:
		if (!is_number(&registers[op->dst]))
			return FAILED;
		*pc += registers[op->dst].number ? 1 : (uint32_t)op->offset;
		return 0;
	default:
		for (i = 0; i < op->count; i++)
			args[i] = read_operand(registers, op->operands[i]);
		err = call(op, args, &ret);
		if (!err && op->dst < REGISTERS)
			registers[op->dst] = ret;
		*pc += 1;
		return err;
	}
}

static int run(uint32_t function, const struct value *args, uint32_t count, struct value *ret)
{
	const struct function *f = &functions[function];
	struct value registers[REGISTERS] = { { NONE, 0, 0, NULL } };
	uint32_t pc = 0, at;
	int err;

	if (count != f->args)
		return FAILED;
	if (!budget--)
		return OUT_OF_BUDGET;
	memcpy(registers, args, count * sizeof(*args));
	while (f->ops[pc].code != RELAX_RET) {
		at = pc;
		err = step(&f->ops[at], registers, &pc);
		if (err) {
			if (!failed_in) {
				failed_in = names[function];
				failed_at = f->first + at;
			}
			return err;
		}
	}
	*ret = registers[f->ops[pc].dst];
	return 0;
}

/* ---- both */

static bool is_equal(const struct tenon_value *a, const struct value *b)
{
	static const int32_t types[] = { TENON_TYPE_NONE,  TENON_TYPE_INT,   TENON_TYPE_BOOL,
					 TENON_TYPE_ARRAY, TENON_TYPE_SHAPE, TENON_TYPE_TENSOR };
	const struct tenon_array *items;
	const int64_t *extents;
	uint32_t i;

	if (b->form == BOUND)
		return a->type >= TENON_TYPE_OBJECT;
	if (b->form == NONE || a->type != types[b->form])
		return a->type == TENON_TYPE_NONE && b->form == NONE;
	if (is_number(b))
		return a->as.integer == b->number;
	if (b->form == ITEMS) {
		items = (const struct tenon_array *)a->as.object;
		for (i = 0; i < b->count && b->count == items->size; i++)
			if (!is_equal(&items->data[i], &b->items[i]))
				return false;
		return b->count == items->size;
	}
	if (b->form == EXTENTS && ((const struct tenon_shape *)a->as.object)->size != b->count)
		return false;
	if (b->form == EXTENTS)
		extents = ((const struct tenon_shape *)a->as.object)->data;
	else
		extents = ((const struct tenon_tensor *)a->as.object)->dl.data;
	for (i = 0; i < b->count; i++)
		if (extents[i] != b->items[i].number)
			return false;
	return true;
}

static void ignore(void *context, const struct relax_op *op, uint64_t begin, uint64_t end)
{
	(void)context;
	(void)op;
	(void)begin;
	(void)end;
}

/* How often programs had a result, failed, and used up the budget */
static unsigned int ends[3];

/* @watched: calls are timed, by another path of the machine */
static void compare(struct relax_vm *vm, int program, int64_t argument, bool watched)
{
	const struct relax_call_hook hook = { ignore, NULL };
	struct value arg = number(argument), result = { NONE, 0, 0, NULL };
	struct tenon_value ret;
	char where[64];
	int err, wanted;

	have = want = (struct calls){ 0, 0 };
	arena_used = 0;
	failed_in = NULL;
	budget = BUDGET;
	wanted = run(0, &arg, 1, &result);
	vm->budget = BUDGET;
	vm->call_hook = watched ? &hook : NULL;
	err = RUN(vm, &ret, tenon_arg_int(argument));
	vm->call_hook = NULL;
	ends[wanted]++;
	snprintf(where, sizeof(where), "%s, instruction %u", failed_in ? failed_in : "",
		 (unsigned int)failed_at);
	if ((err != 0) != (wanted != 0) || (err == -TENON_E_TIMEOUT) != (wanted == OUT_OF_BUDGET) ||
	    (wanted && !message_has(where)))
		fail_msg("program %d: it ended by %d (%s), want %d at %s", program, err,
			 err ? tenon_error_message() : "", wanted, where);
	if (have.count != want.count || have.sum != want.sum)
		fail_msg("program %d: %u calls with a sum of %llx, want %u with %llx", program,
			 (unsigned int)have.count, (unsigned long long)have.sum,
			 (unsigned int)want.count, (unsigned long long)want.sum);
	if (!wanted && !is_equal(&ret, &result))
		fail_msg("program %d: the result is another one", program);
	tenon_value_release(&ret);
	tenon_error_clear();
}

static void random_programs_do_as_a_small_slow_interpreter_does(void **unused)
{
	const char *seed = getenv("SEED");
	struct relax_vm *vm;
	int program, i;

	(void)unused;
	for (program = 0; program < PROGRAMS; program++) {
		state = (seed && *seed ? strtoull(seed, NULL, 0) : 1) *
			UINT64_C(0x9e3779b97f4a7c15);
		state += (uint64_t)program * 977;
		make_program();
		vm = machine();
		for (i = 0; i < 4; i++)
			compare(vm, program, (int64_t)pick(9) - 4, i == 3);
		tenon_object_unref(vm);
	}
	print_message("# %u results, %u failures, %u out of budget\n", ends[0], ends[1], ends[2]);
	assert_true(ends[0] > PROGRAMS / 2 && ends[1] && ends[2]);
}

static int add_functions(void **unused)
{
	(void)unused;
	return tenon_function_register_c(callees[MIX], mix, false) ||
	       tenon_function_register_c(callees[LESS], less, false);
}

static int remove_functions(void **unused)
{
	(void)unused;
	return tenon_function_remove(callees[MIX]) || tenon_function_remove(callees[LESS]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs_do_as_a_small_slow_interpreter_does),
	};

	return cmocka_run_group_tests(tests, add_functions, remove_functions);
}
