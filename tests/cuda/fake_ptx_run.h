/* SPDX-License-Identifier: MIT */
/*
 * Included by fake_cuda.c: runs a kernel, thread after thread from barrier to barrier. Addresses are
 * looked up among what was allocated; those outside end the launch as they do on a GPU.
 */

struct ptx_thread {
	uint64_t *reg;
	int at;
	int waits; /* at a barrier */
	int done;
	uint32_t tid[3];
};

struct ptx_launch {
	const struct ptx_kernel *kernel;
	const unsigned char *params;
	uint32_t grid[3], block[3], index[3];
	uint32_t dynamic;
	unsigned char *shared;
	size_t shared_size;
	int status;
};

/* host memory behind @size bytes of the device; NULL when they are nobody's */
static void *memory_at(uint64_t address, size_t size);

static uint64_t ptx_value(const struct ptx_launch *l, const struct ptx_thread *t,
			  const struct ptx_operand *o)
{
	switch (o->kind) {
	case PTX_REGISTER:
		return t->reg[o->reg];
	case PTX_SPECIAL:
		return o->number < 3   ? t->tid[o->number]
		       : o->number < 6 ? l->block[o->number - 3]
		       : o->number < 9 ? l->index[o->number - 6]
				       : l->grid[o->number - 9];
	default:
		/* of a dynamic symbol: behind all static ones */
		if (o->number >> 32 == 1 && o->kind == PTX_NUMBER)
			return (l->kernel->shared + 15) / 16 * 16 + (uint32_t)o->number;
		return o->number;
	}
}

static double ptx_real(uint64_t bits, size_t size)
{
	float f;
	double d;

	if (size == 4) {
		memcpy(&f, &bits, 4);
		return (double)f;
	}
	memcpy(&d, &bits, 8);
	return d;
}

static uint64_t ptx_bits(double v, size_t size)
{
	float f = (float)v;
	uint64_t bits = 0;

	if (size == 4)
		memcpy(&bits, &f, 4);
	else
		memcpy(&bits, &v, 8);
	return bits;
}

/* the low bytes, extended as the type says */
static uint64_t ptx_fit(uint64_t v, const char *type)
{
	unsigned int bits = 8 * (unsigned int)ptx_type_size(type);

	if (bits >= 64 || !bits)
		return v;
	v &= (UINT64_C(1) << bits) - 1;
	if (*type == 's' && v >> (bits - 1))
		v |= ~((UINT64_C(1) << bits) - 1);
	return v;
}

static void *ptx_place(struct ptx_launch *l, const struct ptx_thread *t,
		       const struct ptx_instruction *i, const struct ptx_operand *o, size_t size)
{
	uint64_t at = o->number;
	void *p = NULL;

	if (o->reg >= 0)
		at += t->reg[o->reg];
	else if (at >> 32 == 1)
		at = (l->kernel->shared + 15) / 16 * 16 + (uint32_t)at;
	if (strstr(i->op, ".param"))
		p = at + size <= l->kernel->param_size ? (void *)(uintptr_t)(l->params + at) : NULL;
	else if (strstr(i->op, ".shared"))
		p = (uint32_t)at + size <= l->shared_size ? l->shared + (uint32_t)at : NULL;
	else
		p = memory_at(at, size);
	if (!p)
		l->status = CU_ILLEGAL_ADDRESS;
	else if (at % size)
		l->status = 716; /* misaligned */
	return l->status ? NULL : p;
}

static void ptx_load(struct ptx_launch *l, struct ptx_thread *t, const struct ptx_instruction *i,
		     int store)
{
	const struct ptx_operand *reg = &i->operand[store], *place = &i->operand[!store];
	size_t size = ptx_type_size(i->type), n;
	int lanes = reg->kind == PTX_VECTOR ? reg->count : 1, k;
	char *at = ptx_place(l, t, i, place, size * (size_t)lanes);

	for (k = 0; k < lanes && at; k++, at += size) {
		n = (size_t)(lanes > 1 ? reg->vector[k] : reg->reg);
		if (store) {
			uint64_t v = lanes > 1 ? t->reg[n] : ptx_value(l, t, reg);

			memcpy(at, &v, size);
		} else {
			t->reg[n] = 0;
			memcpy(&t->reg[n], at, size);
			t->reg[n] = ptx_fit(t->reg[n], i->type);
		}
	}
}

static int ptx_compare(const char *op, double a, double b, int64_t x, int64_t y, int real, int sign)
{
	int less = real ? a < b : sign ? x < y : (uint64_t)x < (uint64_t)y;
	int same = real ? a == b : x == y;

	if (strstr(op, ".eq"))
		return same;
	if (strstr(op, ".ne"))
		return !same;
	if (strstr(op, ".lt"))
		return less;
	if (strstr(op, ".le"))
		return less || same;
	if (strstr(op, ".gt"))
		return !less && !same;
	return !less;
}

static uint64_t ptx_convert(const struct ptx_instruction *i, uint64_t v)
{
	const char *to = i->first, *from = i->type;
	double d;

	if (*from == 'f')
		d = ptx_real(v, ptx_type_size(from));
	else if (*from == 's')
		d = (double)(int64_t)ptx_fit(v, from);
	else
		d = (double)ptx_fit(v, from);
	if (*to == 'f')
		return ptx_bits(d, ptx_type_size(to));
	if (*from == 'f')
		return ptx_fit((uint64_t)(int64_t)d, to);
	return ptx_fit(ptx_fit(v, from), to);
}

static uint64_t ptx_real_op(const struct ptx_instruction *i, const uint64_t *v)
{
	size_t size = ptx_type_size(i->type);
	double a = ptx_real(v[0], size), b = ptx_real(v[1], size), c = ptx_real(v[2], size);

	if (!strcmp(i->base, "fma") || !strcmp(i->base, "mad"))
		return ptx_bits(a * b + c, size);
	if (!strcmp(i->base, "add"))
		return ptx_bits(a + b, size);
	if (!strcmp(i->base, "sub"))
		return ptx_bits(a - b, size);
	if (!strcmp(i->base, "mul"))
		return ptx_bits(a * b, size);
	if (!strcmp(i->base, "div"))
		return ptx_bits(a / b, size);
	if (!strcmp(i->base, "neg"))
		return ptx_bits(-a, size);
	return ptx_bits((!strcmp(i->base, "min") ? a < b : a > b) ? a : b, size);
}

static uint64_t ptx_integer_op(const struct ptx_instruction *i, const uint64_t *v)
{
	uint64_t a = ptx_fit(v[0], i->type), b = ptx_fit(v[1], i->type), c = v[2];
	unsigned int bits = 8 * (unsigned int)ptx_type_size(i->type);
	int wide = strstr(i->op, ".wide") != NULL, sign = *i->type == 's';
	uint64_t r = 0;

	if (!strcmp(i->base, "add"))
		r = a + b;
	else if (!strcmp(i->base, "sub"))
		r = a - b;
	else if (!strcmp(i->base, "mul"))
		r = a * b;
	else if (!strcmp(i->base, "mad"))
		r = a * b + c;
	else if (!strcmp(i->base, "and"))
		r = a & b;
	else if (!strcmp(i->base, "or"))
		r = a | b;
	else if (!strcmp(i->base, "xor"))
		r = a ^ b;
	else if (!strcmp(i->base, "not"))
		r = ~a;
	else if (!strcmp(i->base, "neg"))
		r = 0 - a;
	else if (!strcmp(i->base, "shl"))
		r = (uint32_t)v[1] < bits ? a << (uint32_t)v[1] : 0;
	else if (!strcmp(i->base, "shr"))
		r = sign ? (uint64_t)((int64_t)a >> ((uint32_t)v[1] < 63 ? (uint32_t)v[1] : 63))
		    : (uint32_t)v[1] < bits ? a >> (uint32_t)v[1]
					    : 0;
	else if (!strcmp(i->base, "min"))
		r = (sign ? (int64_t)a < (int64_t)b : a < b) ? a : b;
	else if (!strcmp(i->base, "max"))
		r = (sign ? (int64_t)a > (int64_t)b : a > b) ? a : b;
	else if (!strcmp(i->base, "bfe"))
		r = a >> (uint32_t)v[1] & ((UINT64_C(1) << (uint32_t)v[2]) - 1);
	else if (b && (!strcmp(i->base, "rem") || !strcmp(i->base, "div")))
		r = *i->base == 'r' ? (sign ? (uint64_t)((int64_t)a % (int64_t)b) : a % b)
				    : (sign ? (uint64_t)((int64_t)a / (int64_t)b) : a / b);
	return wide ? r : ptx_fit(r, i->type);
}

/* Do one instruction; the next is at t->at. */
static void ptx_step(struct ptx_launch *l, struct ptx_thread *t)
{
	const struct ptx_instruction *i = &l->kernel->code[t->at++];
	uint64_t v[3] = { 0, 0, 0 }, *out;
	size_t size;
	int k;

	if (i->predicate >= 0 && (!t->reg[i->predicate]) != i->negated)
		return;
	if (!strcmp(i->base, "bra")) {
		t->at = (int)i->operand[0].number;
		return;
	}
	if (!strcmp(i->base, "bar")) {
		t->waits = 1;
		return;
	}
	if (!strcmp(i->base, "ret") || !strcmp(i->base, "exit")) {
		t->done = 1;
		return;
	}
	if (!strcmp(i->base, "ld") || !strcmp(i->base, "st")) {
		ptx_load(l, t, i, *i->base == 's');
		return;
	}
	for (k = 1; k < i->count && k <= 3; k++)
		v[k - 1] = ptx_value(l, t, &i->operand[k]);
	out = &t->reg[i->operand[0].reg];
	size = ptx_type_size(i->type);
	if (!strcmp(i->base, "mov") || !strcmp(i->base, "cvta"))
		*out = ptx_fit(v[0], i->type);
	else if (!strcmp(i->base, "cvt"))
		*out = ptx_convert(i, v[0]);
	else if (!strcmp(i->base, "selp"))
		*out = v[2] ? v[0] : v[1];
	else if (!strcmp(i->base, "setp"))
		*out = (uint64_t)ptx_compare(
			i->op, *i->type == 'f' ? ptx_real(v[0], size) : 0,
			*i->type == 'f' ? ptx_real(v[1], size) : 0, (int64_t)ptx_fit(v[0], i->type),
			(int64_t)ptx_fit(v[1], i->type), *i->type == 'f', *i->type == 's');
	else if (!strcmp(i->type, "pred"))
		*out = !strcmp(i->base, "and")	? v[0] && v[1]
		       : !strcmp(i->base, "or") ? v[0] || v[1]
						: !v[0];
	else if (*i->type == 'f')
		*out = ptx_real_op(i, v);
	else
		*out = ptx_integer_op(i, v);
}

/* All threads of a block; more steps than any test needs is a kernel without an end. */
static void ptx_block(struct ptx_launch *l, struct ptx_thread *threads, size_t count)
{
	const uint64_t most = UINT64_C(20000000);
	uint64_t steps = 0;
	size_t i, left = count;

	while (left && !l->status) {
		for (i = 0; i < count && !l->status; i++) {
			struct ptx_thread *t = &threads[i];

			t->waits = 0;
			while (!t->done && !t->waits && !l->status) {
				if (t->at >= l->kernel->code_count)
					t->done = 1;
				else
					ptx_step(l, t);
				if (++steps > most)
					l->status = CU_LAUNCH_TIMEOUT;
			}
		}
		for (i = 0, left = 0; i < count; i++)
			left += !threads[i].done;
	}
}

/* Run a launch; what a GPU would say of it. */
static int ptx_run(struct ptx_launch *l)
{
	size_t count = (size_t)l->block[0] * l->block[1] * l->block[2], i;
	size_t regs = (size_t)l->kernel->registers + 1;
	struct ptx_thread *threads = calloc(count, sizeof(*threads));
	uint64_t *all = calloc(count * regs, sizeof(*all));
	uint32_t *at = l->index;

	l->shared_size = (l->kernel->shared + 15) / 16 * 16 + l->dynamic;
	l->shared = malloc(l->shared_size + 1);
	for (at[2] = 0; at[2] < l->grid[2]; at[2]++)
		for (at[1] = 0; at[1] < l->grid[1]; at[1]++)
			for (at[0] = 0; at[0] < l->grid[0] && !l->status; at[0]++) {
				memset(threads, 0, count * sizeof(*threads));
				memset(l->shared, 0xcd, l->shared_size);
				for (i = 0; i < count; i++) {
					threads[i].reg = all + i * regs;
					threads[i].tid[0] = (uint32_t)i % l->block[0];
					threads[i].tid[1] = (uint32_t)i / l->block[0] % l->block[1];
					threads[i].tid[2] = (uint32_t)i / l->block[0] / l->block[1];
				}
				ptx_block(l, threads, count);
			}
	free(l->shared);
	free(all);
	free(threads);
	return l->status;
}
