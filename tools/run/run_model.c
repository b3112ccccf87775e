/* SPDX-License-Identifier: MIT */
/* tenon run of a whole model */
#include "tools/run/run_model.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/backend/module_kind.h>

#include "lib/clock.h"
#include "tools/cli/progress.h"
#include "tools/run/run_write.h"
#include "tools/target/kernel_devices.h"
#include "tools/target/target.h"
#include "tools/tensor/element.h"
#include "tools/tensor/print.h"
#include "tools/text/printable.h"

int run_model_failed(struct cli *cli, const struct model_run *m)
{
	int status = tenon_error_status();

	tenon_error_in(status, "%s", m->file);
	if (status == -TENON_E_USAGE)
		return cli_error(cli, CLI_USAGE);
	return kernel_devices_error(cli, m->file, m->tree, m->targets,
				    cli_exit_of(status, CLI_FAILED));
}

static int run_once(struct tenon_model *model, const struct target_list *targets,
		    struct profile *profile)
{
	int err = profile ? profile_run(profile, model) : tenon_model_run(model);

	return err ? err : target_list_wait(targets);
}

static int run_often(const char *file, struct tenon_model *model, const struct target_list *targets,
		     struct times *times, struct profile *profile)
{
	uint64_t i, start;
	int err = 0;

	for (i = 0; i < times->count && !err; i++) {
		if (times->count > 1)
			progress_say("running %s, %llu of %llu", file, (unsigned long long)i + 1,
				     (unsigned long long)times->count);
		else
			progress_say("running %s", file);
		start = clock_now();
		err = run_once(model, targets, profile);
		times->ns[i] = clock_now() - start;
	}
	return err;
}

int run_model_take_outputs(struct model_run *m)
{
	size_t n = tenon_model_output_count(m->model);
	struct results *r = &m->outputs;
	struct tenon_value *at = realloc(r->at, (n + 1) * sizeof(*at));
	int err = 0;

	if (!at)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu outputs", n);
	r->at = at;
	while (!err && r->count < n) {
		err = tenon_model_output_value(m->model, r->count, &at[r->count]);
		if (err)
			break;
		err = target_fetch(&at[r->count++]);
	}
	return err;
}

static bool is_of_type(const DLTensor *t, const struct spec *spec)
{
	return spec->ndim == t->ndim &&
	       (!t->ndim || !memcmp(spec->shape, t->shape, (size_t)t->ndim * sizeof(*t->shape))) &&
	       tenon_dtype_equal(element_storage(spec->dtype), element_storage(t->dtype));
}

/* Write an output to the file of --output; the types must match. */
static int write_output(struct cli *cli, const struct model_run *m, const struct spec *spec,
			size_t next)
{
	int64_t index = model_find_output(m->model, spec, next);
	char given[TYPE_TEXT], has[TYPE_TEXT];
	DLTensor *t;

	if (index < 0) {
		tenon_error_clear();
		return cli_usage(cli, "--output %s: the model has %zu output%s, and none for this",
				 spec->text, m->outputs.count, m->outputs.count == 1 ? "" : "s");
	}
	if (tenon_value_tensor(&m->outputs.at[index], &t)) {
		tenon_error_clear();
		return cli_usage(cli, "--output %s: output %lld is a %s, no tensor", spec->text,
				 (long long)index, tenon_type_key(m->outputs.at[index].type));
	}
	if (spec->form == SPEC_TENSOR && !is_of_type(t, spec))
		return cli_usage(cli, "--output %s: the output is a %s, not a %s", spec->text,
				 type_text(t->shape, t->ndim, t->dtype, has),
				 type_text(spec->shape, spec->ndim, spec->dtype, given));
	if (!spec->write)
		return 0;
	progress_say("writing %s", spec->write);
	return run_write(spec->write, t) ? cli_error(cli, CLI_NO_FILE) : 0;
}

static int write_outputs(struct cli *cli, const struct model_run *m, const struct arguments *a)
{
	size_t i, next = 0;
	int code = 0;

	for (i = 0; i < a->count && !code; i++)
		if (a->at[i].spec.role == SPEC_OUTPUT)
			code = write_output(cli, m, &a->at[i].spec, next++);
	return code;
}

/*
 * Test whether --function names a function of a Relax file that is not a model, mostly in its
 * library.
 */
static bool only_a_function(const char *name, struct tenon_module *module)
{
	struct tenon_model_options o = { .function = name, .describe = true };
	struct tenon_function *f = NULL;
	struct tenon_model *model;
	int err;

	err = tenon_model_open(module, &o, &model);
	if (!err)
		tenon_model_close(model);
	if (err == -TENON_E_NOT_FOUND)
		tenon_module_find_function(module, tenon_slice_of(name), true, &f);
	tenon_error_clear();
	tenon_object_unref(f);
	return f;
}

bool run_is_model(const struct run_options *o, struct tenon_module *module)
{
	if (o->graph)
		return true;
	if (!model_is_root(module))
		return false;
	/* Any function other than the one that creates the model is called as a function. */
	return !o->function || !strcmp(o->function, "default") ||
	       (!strncmp(module->kind.data, "relax.", 6) && !only_a_function(o->function, module));
}

int run_model_open(struct cli *cli, const struct run_options *o, struct tenon_module *module,
		   const struct target_list *targets, const struct arguments *a,
		   struct model_run *m)
{
	struct model_source source = {
		o->file, o->graph, o->params, o->function, targets, m->tree
	};
	int code;

	kernels_build(&m->kernels, module, targets);
	code = model_open(cli, &source, module, false, &m->model);
	if (!code)
		code = model_set_inputs(cli, m->model, a->at, a->count);
	/* --stream reads one of the inputs */
	if (!code && !o->stream)
		code = model_need_inputs(cli, o->file, m->model);
	return code;
}

int run_model(struct cli *cli, const struct run_options *o, const struct target_list *targets,
	      const struct arguments *a, struct times *times, struct model_run *m)
{
	struct profile *p = o->profile ? &m->operators : NULL;
	int code = 0;

	if (p || times->count > 1)
		kernels_wait(&m->kernels);
	if (run_often(o->file, m->model, targets, times, p) || run_model_take_outputs(m))
		code = run_model_failed(cli, m);
	if (!code)
		code = write_outputs(cli, m, a);
	if (!code && o->profile && !o->json && profile_print(p, cli->out))
		code = cli_error(cli, CLI_FAILED);
	return code;
}

void run_model_fini(struct model_run *m)
{
	profile_fini(&m->operators);
	results_fini(&m->outputs);
	tenon_model_close(m->model);
}
