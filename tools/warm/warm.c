/* SPDX-License-Identifier: MIT */
/* tenon warm: build all kernels of a module before it is used. */
#include "tools/warm/warm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/option.h"
#include "runtime/core/processors.h"
#include "tools/device_option/kernel_devices.h"
#include "tools/device_option/target_list.h"
#include "tools/text/text.h"

static unsigned int processors(void)
{
	const unsigned int n = (unsigned int)processors_allowed();

	return n < WARM_WORKERS_MOST ? n : WARM_WORKERS_MOST;
}

static int take_device(struct cli *cli, void *context)
{
	struct warm *w = context;

	if (w->device)
		return cli_usage(cli, "--device %s: one device at a time", optarg);
	w->device = optarg;
	return 0;
}

/* Without the cache nothing would be left of the kernels. */
static int check_cache(struct cli *cli)
{
	const char *folder = secure_getenv("TENON_CACHE_DIR");

	if (OPTION_ON(KERNEL_CACHE) && (!folder || *folder))
		return 0;
	fputs(OPTION_ON(KERNEL_CACHE)
		      ? "tenon: TENON_CACHE_DIR is empty: the cache of compiled kernels is "
			"off, so none would be kept\n"
		      : "tenon: this build has no cache of compiled kernels. Enable "
			"CONFIG_KERNEL_CACHE\n",
	      cli->err);
	return CLI_UNAVAILABLE;
}

/* Append the devices that a module has kernels for; none if the file is a manifest or an archive, of which one is made. */
static int kernels_of(const char *file, struct tenon_buffer *out)
{
	struct tenon_module *m;
	int err = tenon_module_inspect(file, &m);

	if (err == -TENON_E_FORMAT)
		tenon_error_clear();
	if (err)
		return err == -TENON_E_FORMAT ? 0 : err;
	kernel_devices_say(m, out);
	tenon_object_unref(m);
	return 0;
}

static int ask_device(struct cli *cli, const char *file)
{
	struct tenon_buffer devices = TENON_BUFFER_INIT;
	int code;

	/* the usage is wrong in any case */
	if (kernels_of(file, &devices))
		tenon_error_clear();
	if (devices.size)
		code = cli_usage(
			cli, "for which device? %s has kernels for %s: add --device %.*s:0", file,
			devices.data, (int)strcspn(devices.data, ", "), devices.data);
	else
		code = cli_usage(cli, "for which device? --device opencl:0");
	tenon_buffer_fini(&devices);
	return code;
}

static int print_others(const struct warm *w, FILE *out)
{
	struct tenon_buffer others = TENON_BUFFER_INIT;
	int err = kernels_of(w->file, &others);

	if (!err) {
		printable_format(out, "%s has no kernels for %s", w->file, w->device);
		if (others.size)
			fprintf(out, ", but for %s", others.data);
		fputc('\n', out);
	}
	tenon_buffer_fini(&others);
	return err;
}

static int print(const struct warm *w, FILE *out)
{
	char time[TIMING_TEXT];

	if (!w->kernels)
		return print_others(w, out);
	printable_format(out, "%s: %" PRIu32 " kernel%s ready for %s after %s, by %u process%s\n",
			 w->file, w->kernels, w->kernels == 1 ? "" : "s", w->device,
			 timing_text(w->nanoseconds, time), w->processes,
			 w->processes == 1 ? "" : "es");
	return 0;
}

static int warm(struct cli *cli, struct warm *w, bool json)
{
	uint64_t began = clock_now();
	int err, code = check_cache(cli);

	if (code)
		return code;
	target_warn_of_choice(cli);
	code = warm_build(cli, w);
	w->nanoseconds = clock_now() - began;
	printable_print(w->message, cli->err);
	if (OPTION_ON(JSON) && json && (!code || code == CLI_FAILED) && warm_json(w, cli->out))
		return cli_error(cli, CLI_FAILED);
	err = json || code ? 0 : print(w, cli->out);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : code;
}

static int warm_main(struct cli *cli, int argc, char **argv)
{
	struct warm w = { 0 };
	uint64_t jobs = processors();
	bool json = false;
	const struct cli_option options[] = {
		{ "device", .take = take_device, .context = &w },
		{ "jobs", .count = &jobs, .from = 1, .to = WARM_WORKERS_MOST },
		{ "json", .flag = &json },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (!code && json)
		code = cli_needs_json(cli);
	if (code)
		return code;
	w.jobs = (unsigned int)jobs;
	code = cli_file(cli, argc, argv, &w.file);
	if (code)
		return code;
	if (!w.device)
		return ask_device(cli, w.file);
	return warm(cli, &w, json);
}

const struct cli_command warm_command = {
	"warm",
	"Build all kernels of a module before it is used",
	"Usage: tenon warm FILE --device URI [--jobs N] [--json]\n"
	"\n"
	"  --device URI   the device that the kernels are for: opencl:0, vulkan, cuda:0\n"
	"  --jobs N       build so many kernels at a time (one for each processor)\n"
	"  --json         print JSON\n"
	"\n"
	"Compiled kernels go to the cache, where tenon run, tenon chat and other programs find "
	"them:\n"
	"see TENON_CACHE_DIR. Where a driver builds one kernel at a time, as PoCL does, several\n"
	"processes build. Exit status: 5 for a kernel that does not compile.\n",
	warm_main,
};
