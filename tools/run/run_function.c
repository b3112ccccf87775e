/* SPDX-License-Identifier: MIT */
/* Call a function as often as asked, and take its results. */
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/record.h"
#include "tools/cli/progress.h"
#include "tools/device_option/kernel_devices.h"
#include "tools/device_option/target_list.h"
#include "tools/run/run.h"
#include "tools/tensor/array_file.h"

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
static int call_failed(struct cli *cli, const struct run *run)
{
	const bool count = is_of_count(tenon_error_message());
	int status = tenon_error_status(), code;
	bool unavailable = status == -TENON_E_NO_LOADER || status == -TENON_E_DEVICE ||
			   status == -TENON_E_LOST;

	tenon_error_in(status, "%s", run->name);
	code = kernel_devices_error(cli, run->options.file, run_tree(run), &run->targets,
				    unavailable ? CLI_UNAVAILABLE : CLI_FAILED);
	if (count)
		say_arguments(cli, &run->arguments);
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

static int call_function(struct cli *cli, struct run *run, struct tenon_value *returned)
{
	const int32_t argument_count = (int32_t)run->arguments.count;
	const struct tenon_slice name = tenon_slice_of(run->name);
	const char *file = run->options.file;
	struct operator_begun *begun;
	struct times *times = &run->times;
	struct tenon_value *views = views_of(&run->arguments);
	uint64_t i, start;
	int err = 0;

	if (!views) {
		tenon_error(-TENON_E_NOMEM, "no memory for %zu arguments", run->arguments.count);
		return cli_error(cli, CLI_FAILED);
	}
	for (i = 0; i < times->count && !err; i++) {
		if (times->count > 1)
			progress_say("running %s of %s, call %llu of %llu", run->name, file,
				     (unsigned long long)i + 1, (unsigned long long)times->count);
		else
			progress_say("running %s of %s", run->name, file);
		start = clock_now();
		tenon_value_release(returned);
		begun = record_before(
			&(struct operator_call){ name, name, views, (uint32_t)argument_count, 0 });
		err = tenon_function_call(run->function, views, argument_count, returned);
		record_after(begun, err);
		if (err)
			*returned = tenon_arg_none(); /* the result of a failed call is invalid */
		else
			err = target_wait(run->targets.on[0]);
		times->ns[i] = clock_now() - start;
	}
	free(views);
	return err ? call_failed(cli, run) : 0;
}

/* Collect the outputs and @returned, which moves to the results. */
static int take_results(struct cli *cli, struct run *run, struct tenon_value *returned)
{
	const struct arguments *a = &run->arguments;
	struct results *r = &run->results;
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

static int write_outputs(struct cli *cli, const struct arguments *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const char *path = a->at[i].spec.write;

		if (!path)
			continue;
		progress_say("writing %s", path);
		if (array_file_write(path, &a->at[i].tensor->dl))
			return cli_error(cli, CLI_NO_FILE);
	}
	return 0;
}

int run_function(struct cli *cli, struct run *run)
{
	struct tenon_value returned = tenon_arg_none();
	int code;

	code = run_find_function(cli, run);
	if (!code)
		code = run_put_arguments(cli, run);
	if (!code)
		code = call_function(cli, run, &returned);
	if (!code)
		code = run_get_outputs(cli, run, &returned);
	if (code) {
		tenon_value_release(&returned);
		return code;
	}
	code = take_results(cli, run, &returned);
	return code ? code : write_outputs(cli, &run->arguments);
}
