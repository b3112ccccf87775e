/* SPDX-License-Identifier: MIT */
/* Run the steps of a plan on the arguments of a call. */
#include <stdlib.h>
#include <tenon/error.h>
#include <tenon/threads.h>

#include "lib/brief_errors.h"
#include "runtime/byoc/dnnl/dnnl_plan.h"

struct dnnl_run {
	const struct dnnl_plan *plan;
	struct dnnl_stream *stream;
	struct dnnl_exec_arg *args; /* parallel to the plan's uses */
	void *arena;
};

static void *address_of(const struct dnnl_run *r, const struct dnnl_data *data)
{
	switch (data->place) {
	case DNNL_PLACE_CONSTANT:
		return data->address;
	case DNNL_PLACE_BUFFER:
		return (char *)r->arena + r->plan->buffers[data->index].offset;
	default:
		return NULL; /* set by each call */
	}
}

int dnnl_run_create(const struct dnnl_plan *p, struct dnnl_run **out)
{
	struct dnnl_run *r;
	uint32_t i;
	int status = 0;

	*out = NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return tenon_error(-TENON_E_NOMEM, "no memory for a run");
	r->plan = p;
	r->args = calloc((size_t)p->use_count + 1, sizeof(*r->args));
	if (!r->args || posix_memalign(&r->arena, BYOC_ALIGNMENT, p->arena + 1)) {
		r->arena = NULL;
		dnnl_run_destroy(r);
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes of values", p->arena);
	}
	status = dnnl.stream_create(&r->stream, dnnl.engine, DNNL_STREAM_DEFAULT);
	for (i = 0; i < p->use_count && !status; i++) {
		r->args[i].arg = p->uses[i].arg;
		status = dnnl.memory_create(&r->args[i].memory, p->uses[i].layout, dnnl.engine,
					    address_of(r, &p->uses[i].data));
	}
	if (status) {
		dnnl_run_destroy(r);
		return dnnl_check(status, "a memory");
	}
	*out = r;
	return 0;
}

void dnnl_run_destroy(struct dnnl_run *r)
{
	uint32_t i;

	if (!r)
		return;
	for (i = 0; r->args && i < r->plan->use_count; i++)
		if (r->args[i].memory)
			dnnl.memory_destroy(r->args[i].memory);
	if (r->stream)
		dnnl.stream_destroy(r->stream);
	free(r->args);
	free(r->arena);
	free(r);
}

int dnnl_run(struct dnnl_run *r, void *const *data)
{
	const struct dnnl_plan *p = r->plan;
	const int threads = dnnl_threads_at_most(tenon_parallel_workers());
	const struct dnnl_step *step;
	uint32_t i;
	int status = 0;

	for (i = 0; i < p->use_count && !status; i++)
		if (p->uses[i].data.place == DNNL_PLACE_ARGUMENT)
			status = dnnl.memory_set_data_handle(r->args[i].memory,
							     data[p->uses[i].data.index]);
	for (i = 0; i < p->step_count && !status; i++) {
		step = &p->steps[i];
		status = dnnl.primitive_execute(step->primitive, r->stream, (int)step->use_count,
						&r->args[step->first_use]);
	}
	if (!status)
		status = dnnl.stream_wait(r->stream);
	dnnl_threads_restore(threads);
	return dnnl_check(status, "a result");
}
