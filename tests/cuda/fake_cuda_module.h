/* SPDX-License-Identifier: MIT */
/*
 * The part of fake_cuda.c that loads modules, finds functions and launches them. A cubin (ELF) or fatbin is not looked into:
 * it has any function that is asked for, which does nothing.
 */

struct cu_module_data {
	struct handle handle;
	struct ptx_kernel *kernels;
	int opaque;
};

struct cu_function_data {
	struct handle handle;
	struct cu_module_data *module;
	const struct ptx_kernel *kernel;
	struct cu_function_data *same; /* of the same module */
	struct ptx_kernel unknown;     /* of an opaque module */
	uint32_t allowed;
	int wide_clusters;
};

static struct cu_function_data *functions;

struct launch_wish {
	uint32_t grid[3], block[3], shared;
	uint32_t cluster[3], preferred[3];
	int cooperative, programmatic;
};

EXPORT int cuModuleLoadDataEx(cu_module *out, const void *image, uint32_t count, int *options,
			      void **values)
{
	const char *text = image;
	struct ptx_kernel *kernels = NULL;
	char *log = NULL;
	size_t room = 0;
	uint32_t i;
	int opaque;

	for (i = 0; i < count; i++) {
		if (options[i] == CU_JIT_ERROR_LOG)
			log = values[i];
		if (options[i] == CU_JIT_ERROR_LOG_SIZE)
			room = (size_t)(uintptr_t)values[i];
	}
	ENTER_CONTEXT("cuModuleLoadDataEx");
	COUNT(loads);
	opaque = !memcmp(text, "\177ELF", 4) || !memcmp(text, "\x50\xed\x55\xba", 4);
	if ((uintptr_t)image % 8)
		complain("an image that is not aligned", "cuModuleLoadDataEx");
	if (!opaque) {
		kernels = ptx_read(text, log, room);
		if (!kernels)
			return CU_INVALID_PTX;
	}
	*out = make_handle(sizeof(struct cu_module_data), MODULE);
	(*out)->kernels = kernels;
	(*out)->opaque = opaque;
	return 0;
}

EXPORT int cuModuleUnload(cu_module m)
{
	struct cu_function_data *k;

	ENTER_CONTEXT("cuModuleUnload");
	CHECK(m, MODULE, "cuModuleUnload");
	quiesce(current);
	for (k = functions; k; k = k->same)
		if (k->module == m && k->handle.magic == FUNCTION)
			end_handle(k);
	ptx_free(m->kernels);
	m->kernels = NULL;
	end_handle(m);
	return 0;
}

EXPORT int cuModuleGetFunction(cu_function *out, cu_module m, const char *name)
{
	struct cu_function_data *k;
	const struct ptx_kernel *p;

	ENTER_CONTEXT("cuModuleGetFunction");
	CHECK(m, MODULE, "cuModuleGetFunction");
	for (p = m->kernels; p && strcmp(p->name, name); p = p->next)
		;
	if (!p && !m->opaque)
		return CU_NOT_FOUND;
	k = make_handle(sizeof(*k), FUNCTION);
	k->module = m;
	k->kernel = p ? p : &k->unknown;
	snprintf(k->unknown.name, sizeof(k->unknown.name), "%s", name);
	k->allowed = 49152 - (uint32_t)k->kernel->shared;
	pthread_mutex_lock(&lock);
	k->same = functions;
	functions = k;
	pthread_mutex_unlock(&lock);
	*out = k;
	return 0;
}

EXPORT int cuFuncGetAttribute(int *out, int what, cu_function k)
{
	ENTER_CONTEXT("cuFuncGetAttribute");
	CHECK(k, FUNCTION, "cuFuncGetAttribute");
	if (what != CU_FUNCTION_STATIC_SHARED)
		return CU_INVALID_VALUE;
	*out = (int)k->kernel->shared;
	return 0;
}

EXPORT int cuFuncSetAttribute(cu_function k, int what, int value)
{
	ENTER_CONTEXT("cuFuncSetAttribute");
	CHECK(k, FUNCTION, "cuFuncSetAttribute");
	if (what == CU_FUNCTION_NON_PORTABLE_CLUSTER) {
		k->wide_clusters = value;
		return 0;
	}
	if (what != CU_FUNCTION_MAX_DYNAMIC_SHARED || value < 0 ||
	    (size_t)value + k->kernel->shared > 232448)
		return CU_INVALID_VALUE;
	__atomic_store_n(&k->allowed, (uint32_t)value, __ATOMIC_RELEASE);
	return 0;
}

#ifndef FAKE_OLD
EXPORT int cuFuncGetParamInfo(cu_function k, size_t i, size_t *offset, size_t *size)
{
	ENTER_CONTEXT("cuFuncGetParamInfo");
	CHECK(k, FUNCTION, "cuFuncGetParamInfo");
	if (k->module->opaque)
		return CU_NOT_SUPPORTED;
	if (i >= (size_t)k->kernel->param_count)
		return CU_INVALID_VALUE;
	*offset = k->kernel->param[i].offset;
	*size = k->kernel->param[i].size;
	return 0;
}
#endif

static void note_launch(const struct cu_function_data *k, const struct launch_wish *w,
			const unsigned char *params)
{
	pthread_mutex_lock(&lock);
	memcpy(f.kernel, k->kernel->name, sizeof(f.kernel));
	memcpy(f.arguments, params, sizeof(f.arguments));
	memcpy(f.grid, w->grid, sizeof(f.grid));
	memcpy(f.block, w->block, sizeof(f.block));
	memcpy(f.cluster, w->cluster, sizeof(f.cluster));
	memcpy(f.preferred, w->preferred, sizeof(f.preferred));
	f.shared = w->shared;
	f.cooperative = w->cooperative;
	f.programmatic = w->programmatic;
	pthread_mutex_unlock(&lock);
}

static int check_launch(const struct cu_function_data *k, const struct launch_wish *w)
{
	uint64_t threads = (uint64_t)w->block[0] * w->block[1] * w->block[2], blocks;
	int i;

	if (!threads || threads > 1024 || w->block[2] > 64 || !w->grid[0] || !w->grid[1] ||
	    !w->grid[2] || w->grid[1] > 65535 || w->grid[2] > 65535)
		return CU_INVALID_VALUE;
	if (w->shared > __atomic_load_n(&k->allowed, __ATOMIC_ACQUIRE))
		return CU_INVALID_VALUE;
	blocks = 1;
	for (i = 0; i < 3 && w->cluster[0]; i++) {
		blocks *= w->cluster[i];
		if (!w->cluster[i] || w->grid[i] % w->cluster[i])
			return 912; /* invalid cluster size */
	}
	return blocks > 16 || (blocks > 8 && !k->wide_clusters) ? 912 : 0;
}

/* What a launch is made of; used for nodes of graphs too. */
static int launch_op(cu_function k, const struct launch_wish *w, void **arguments, struct op *o)
{
	const struct ptx_kernel *p = k->kernel;
	int i, status = check_launch(k, w);

	if (status)
		return status;
	o->kind = OP_KERNEL;
	memset(o->params, 0, sizeof(o->params));
	for (i = 0; i < p->param_count; i++)
		memcpy(o->params + p->param[i].offset, arguments[i], p->param[i].size);
	if (k->module->opaque)
		for (i = 0; i < f.pointers; i++)
			memcpy(o->params + 8 * i, arguments[i], 8);
	o->launch.kernel = p;
	memcpy(o->launch.grid, w->grid, sizeof(w->grid));
	memcpy(o->launch.block, w->block, sizeof(w->block));
	o->launch.dynamic = w->shared;
	return 0;
}

static int launch(cu_function k, cu_stream s, const struct launch_wish *w, void **arguments,
		  const char *name)
{
	struct op *o;
	int status;

	ENTER_CONTEXT(name);
	CHECK(k, FUNCTION, name);
	CHECK(s, STREAM, name);
	if (f.nothing) {
		f.launches++;
		return 0;
	}
	COUNT(launches);
	o = op_make(OP_KERNEL);
	status = launch_op(k, w, arguments, o);
	if (status) {
		free(o);
		return status;
	}
	note_launch(k, w, o->params);
	return enqueue(s, o);
}

EXPORT int cuLaunchKernel(cu_function k, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
			  uint32_t by, uint32_t bz, uint32_t shared, cu_stream s, void **arguments,
			  void **extra)
{
	const struct launch_wish w = { .grid = { gx, gy, gz },
				       .block = { bx, by, bz },
				       .shared = shared };

	return launch(k, s, &w, arguments, "cuLaunchKernel");
}

EXPORT int cuLaunchCooperativeKernel(cu_function k, uint32_t gx, uint32_t gy, uint32_t gz,
				     uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared,
				     cu_stream s, void **arguments)
{
	const struct launch_wish w = {
		.grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared, .cooperative = 1
	};

	return launch(k, s, &w, arguments, "cuLaunchCooperativeKernel");
}

static int take_attribute(struct launch_wish *w, uint32_t id, const struct cu_launch_attribute *a)
{
	switch (id) {
	case CU_LAUNCH_COOPERATIVE:
		w->cooperative = a->value.number;
		return 0;
	case CU_LAUNCH_PROGRAMMATIC:
		w->programmatic = a->value.number;
		return 0;
	case CU_LAUNCH_CLUSTER:
		memcpy(w->cluster, a->value.dim, sizeof(w->cluster));
		return 0;
	case CU_LAUNCH_PREFERRED_CLUSTER:
		memcpy(w->preferred, a->value.dim, sizeof(w->preferred));
		return 0;
	default:
		return CU_INVALID_VALUE;
	}
}

#ifndef FAKE_OLD
EXPORT int cuLaunchKernelEx(const struct cu_launch *l, cu_function k, void **arguments,
			    void **extra)
{
	struct launch_wish w = { .shared = l->shared };
	uint32_t i;
	int status = 0;

	memcpy(w.grid, l->grid, sizeof(w.grid));
	memcpy(w.block, l->block, sizeof(w.block));
	for (i = 0; i < l->attribute_count && !status; i++)
		status = take_attribute(&w, l->attributes[i].id, &l->attributes[i]);
	return status ? status : launch(k, l->stream, &w, arguments, "cuLaunchKernelEx");
}
#endif
