/* SPDX-License-Identifier: MIT */
/* tenon replay: repeat the operations of a record on a device, or compare two devices. */
#include "tools/cli/verbs.h"

#include <unistd.h>

#include "tools/cli/progress.h"
#include "tools/device_option/target_list.h"
#include "tools/replay/replay.h"

static int compare(struct cli *cli, const struct replay_options *o, const struct replay_manifest *m)
{
	struct replay_comparison c;
	int err, code = CLI_OK;

	err = replay_compare(m, o->targets, o->target_count, &o->tolerance, &c);
	progress_stop();
	if (err)
		code = cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	else if (!o->json)
		replay_report(o, &c, cli->out);
	else if (replay_report_json(o, &c, cli->out))
		code = cli_error(cli, CLI_FAILED);
	if (!code && c.first.operation)
		code = CLI_DIFFERS;
	else if (!code && (c.failed || !c.compared))
		code = CLI_FAILED;
	replay_comparison_fini(&c);
	return code;
}

static int replay(struct cli *cli, struct replay_options *o)
{
	struct replay_manifest m = { 0 };
	size_t i;
	int code = 0;

	if (replay_manifest_read(o->folder, &m))
		code = cli_error(cli, CLI_NO_FILE);
	target_warn_of_choice(cli);
	for (i = 0; !code && i < o->target_count; i++)
		code = replay_target_open(cli, &m, &o->targets[i]);
	if (!code)
		code = compare(cli, o, &m);
	for (i = 0; i < o->target_count; i++)
		replay_target_close(&o->targets[i]);
	replay_manifest_fini(&m);
	return code;
}

static int replay_main(struct cli *cli, int argc, char **argv)
{
	struct replay_options o = { 0 };
	int code = replay_read_options(cli, argc, argv, &o);

	if (code)
		return code;
	code = o.json ? cli_needs_json(cli) : 0;
	if (code)
		return code;
	if (progress_start(o.timeout, cli->err == stderr && isatty(STDERR_FILENO)))
		return cli_error(cli, CLI_FAILED);
	code = replay(cli, &o);
	progress_stop();
	return code;
}

const struct cli_command replay_command = {
	"replay",
	"Repeat the operations of a recorded run on other devices",
	"Usage: tenon replay DIR --device URI [OPTION]…\n"
	"       tenon replay DIR --compare URI URI [OPTION]…\n"
	"\n"
	"  --device URI      repeat each operation there, and compare with what was recorded\n"
	"  --compare A B     repeat each operation on A and on B, and compare B with A\n"
	"  --module [URI=]FILE  the module with the functions, for all devices or for one; "
	"without\n"
	"                    it that of the record\n"
	"  --rtol R          how far a result may be off, relative (1e-5; integers: 0)\n"
	"  --atol A          how far it may be off, absolute (1e-8; integers: 0)\n"
	"  --timeout S       give up after S seconds\n"
	"  --json            print JSON\n"
	"\n"
	"DIR was written by tenon run --record. Its module is native code: replay only records "
	"that\n"
	"you would run. The first operation whose result differs is named, and the comparison "
	"ends.\n"
	"\n"
	"Exit status: 0 equal, 1 a result differs, 2 usage, 3 the record cannot be read, 4 a "
	"device\n"
	"is not there, 5 an operation failed or none could be compared, 124 timeout.\n",
	replay_main,
};
