/* SPDX-License-Identifier: MIT */
/* Call a function as often as asked, and take its results */
#include "tools/run/run_function.h"

#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "tools/cli/progress.h"
#include "tools/target/kernel_devices.h"
#include "tools/target/target.h"

static void say_arguments(struct cli *cli, const struct arguments *a)
{
	fprintf(cli->err,
		"tenon: %zu --input and %zu --output are given: the arguments, in this order "
		"(tenon help spec)\n",
		a->count - a->output_count, a->output_count);
}

/* Test whether compiled code, of any TVM, was called with a wrong number of arguments. */
static bool is_of_count(const char *message)
{
	const char *expected = strstr(message, "Expected ");

	return strstr(message, "num_args") || (expected && strstr(expected, " arguments"));
}

/* Map a failure to an exit code: distinguish a missing loader or device from a failed function. */
static int call_failed(struct cli *cli, const struct run_options *o, const struct arguments *a,
		       const struct target_list *targets, const struct function_run *f)
{
	const bool count = is_of_count(tenon_error_message());
	int status = tenon_error_status(), code;
	bool unavailable = status == -TENON_E_NO_LOADER || status == -TENON_E_DEVICE ||
			   status == -TENON_E_LOST;

	tenon_error_in(status, "%s", f->name);
	code = kernel_devices_error(cli, o->file, f->tree, targets,
				    unavailable ? CLI_UNAVAILABLE : CLI_FAILED);
	if (count)
		say_arguments(cli, a);
	return code;
}

/* Make the argument list of the function. */
static struct tenon_value *views_of(const struct arguments *a)
{
	struct tenon_value *views = calloc(a->count + 1, sizeof(*views));

	for (size_t i = 0; views && i < a->count; i++)
		views[i] =
			a->at[i].on_device ? tenon_arg_object(a->at[i].on_device) : a->at[i].value;
	return views;
}

static int call_once(const struct function_run *f, const struct tenon_value *views, size_t count,
		     struct tenon_device *on, struct tenon_value *returned)
{
	int err;

	tenon_value_release(returned);
	err = tenon_function_call(f->function, views, (int32_t)count, returned);
	if (!err)
		return target_wait(on);
	/* The result of a failed call is invalid. */
	*returned = tenon_arg_none();
	return err;
}

static int call(struct cli *cli, const struct run_options *o, const struct arguments *a,
		const struct target_list *targets, struct times *times,
		const struct function_run *f, struct tenon_value *returned)
{
	struct tenon_device *on = targets->count ? targets->on[0] : NULL;
	struct tenon_value *views = views_of(a);
	int err = 0;

	if (!views) {
		tenon_error(-TENON_E_NOMEM, "no memory for %zu arguments", a->count);
		return cli_error(cli, CLI_FAILED);
	}
	for (uint64_t i = 0; i < times->count && !err; i++) {
		uint64_t start;

		if (times->count > 1)
			progress_say("running %s of %s, call %llu of %llu", f->name, o->file,
				     (unsigned long long)i + 1, (unsigned long long)times->count);
		else
			progress_say("running %s of %s", f->name, o->file);
		start = clock_now();
		err = call_once(f, views, a->count, on, returned);
		times->ns[i] = clock_now() - start;
	}
	free(views);
	return err ? call_failed(cli, o, a, targets, f) : 0;
}

/* Collect the outputs and @returned, which moves to the results. */
static int take_results(struct cli *cli, const struct arguments *a, struct tenon_value *returned,
			struct results *r)
{
	int err = 0;

	r->at = calloc(a->output_count + 1, sizeof(*r->at));
	if (!r->at)
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu results", a->output_count + 1);
	for (size_t i = 0; i < a->count && !err; i++) {
		if (a->at[i].spec.role != SPEC_OUTPUT)
			continue;
		err = tenon_value_own(&a->at[i].value, &r->at[r->count]);
		r->count += !err;
	}
	if (err) {
		tenon_value_release(returned);
		return cli_error(cli, CLI_FAILED);
	}
	if (returned->type != TENON_TYPE_NONE || !r->count)
		r->at[r->count++] = *returned;
	return 0;
}

int run_function(struct cli *cli, const struct run_options *o, const struct target_list *targets,
		 struct arguments *a, struct times *times, struct function_run *f)
{
	struct tenon_device *on = targets->count ? targets->on[0] : NULL;
	const char *name = targets->count ? targets->name[0] : "cpu";
	struct tenon_value returned = tenon_arg_none();
	int code;

	code = arguments_put(cli, a, on, name);
	if (!code)
		code = call(cli, o, a, targets, times, f, &returned);
	if (!code)
		code = arguments_get(cli, a, on, name, &returned);
	if (code) {
		tenon_value_release(&returned);
		return code;
	}
	code = take_results(cli, a, &returned, &f->results);
	return code ? code : arguments_write(cli, a);
}

void run_function_fini(struct function_run *f)
{
	results_fini(&f->results);
	tenon_object_unref(f->function);
}
