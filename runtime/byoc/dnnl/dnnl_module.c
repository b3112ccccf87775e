/* SPDX-License-Identifier: MIT */
/* Modules of kind "dnnl_json": graphs of operators that TVM, or "tenon partition", left to oneDNN. */
#include <stdlib.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/byoc/dnnl/dnnl_plan.h"
#include "runtime/byoc/json_module.h"

struct program {
	struct dnnl_plan plan;
	struct dnnl_run *idle; /* a run that no call uses; exchanged atomically */
};

static void dnnl_destroy(void *self)
{
	struct program *program = self;

	dnnl_run_destroy(program->idle);
	dnnl_plan_fini(&program->plan);
	free(program);
}

static int dnnl_make(const struct byoc_graph *g, void *const *constants, void **out)
{
	struct program *program = calloc(1, sizeof(*program));
	int err;

	if (!program)
		return tenon_error(-TENON_E_NOMEM, "no memory for a program");
	err = dnnl_plan_make(g, constants, &program->plan);
	if (err)
		dnnl_destroy(program);
	else
		*out = program;
	return err;
}

/* Each call that overlaps others has a run of its own; one is kept for the next call. */
static int dnnl_call(void *self, void *const *data)
{
	struct program *program = self;
	struct dnnl_run *r;
	int err = dnnl_forked();

	if (err)
		return err;
	r = __atomic_exchange_n(&program->idle, NULL, __ATOMIC_ACQ_REL);
	if (!r)
		err = dnnl_run_create(&program->plan, &r);
	if (err)
		return err;
	err = dnnl_run(r, data);
	dnnl_run_destroy(__atomic_exchange_n(&program->idle, r, __ATOMIC_ACQ_REL));
	return err;
}

static const struct byoc_library library = { "dnnl_json", dnnl_make, dnnl_call, dnnl_destroy };

int dnnl_load(struct tenon_cursor *c, const struct tenon_payload *payload,
	      struct tenon_module **out)
{
	return byoc_module_load(&library, c, out);
}
