/* SPDX-License-Identifier: MIT */
/* Parse options, choose suites, run the session under the guard. */
#include "tools/cli/verbs.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/string.h>
#include <time.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "tools/file/file.h"
#include "tools/hil/guard.h"
#include "tools/hil/session.h"
#include "tools/text/text.h"

/**
 * struct hil_run - "tenon hil run"
 * @file: value of --target
 * @out: value of --out; NULL for the default
 */
struct hil_run {
	const char *file;
	const char *out;
	bool json;
	bool verbose;
	struct target target;
	struct session session;
};

/* ---- the suites of a run */

static int unknown_suite(struct cli *cli, const struct target *target, const char *name)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(name) };

	for (size_t i = 0; i < target->suite_count; i++)
		nearest_name_offer(&nearest, tenon_slice_of(target->suites[i].name));
	cli_unknown(cli, "suite of this target or file", name, &nearest);
	return CLI_USAGE;
}

static int add_named(struct cli *cli, struct hil_run *run, const char *name)
{
	const struct target_suite *known = target_suite(&run->target, name);
	struct session_suite *suite = &run->session.suites[run->session.count];

	if (!known && access(name, F_OK) && !strchr(name, '/'))
		return unknown_suite(cli, &run->target, name);
	suite->definition = known ? *known : (struct target_suite){ .name = name, .file = name };
	run->session.count++;
	return CLI_OK;
}

static int choose_suites(struct cli *cli, struct hil_run *run, int argc, char **argv)
{
	size_t named = (size_t)(argc - optind);
	size_t count = named ? named : run->target.suite_count;
	int code = CLI_OK;

	run->session.suites = calloc(count + 1, sizeof(*run->session.suites));
	if (!run->session.suites) {
		tenon_error(-TENON_E_NOMEM, "no memory for suites");
		return cli_error(cli, CLI_FAILED);
	}
	run->session.suites[run->session.count++].definition.name = "board";
	for (size_t i = 0; !code && i < named; i++)
		code = add_named(cli, run, argv[optind + (int)i]);
	for (size_t i = 0; !named && i < count; i++)
		run->session.suites[run->session.count++].definition = run->target.suites[i];
	return code;
}

/* ---- folders */

static int make_folder(struct cli *cli, const char *path)
{
	if (!mkdir(path, 0777) || errno == EEXIST)
		return CLI_OK;
	tenon_error(-TENON_E_IO, "%s: cannot create: %s", path, strerror(errno));
	return cli_error(cli, CLI_NO_FILE);
}

/* Logs are appended to, so those of an earlier run are removed. */
static int remove_log(const char *path, const struct stat *about, int kind, struct FTW *place)
{
	size_t size = strlen(path);

	if (kind == FTW_F && place->level == 1 && size > 4 && !strcmp(path + size - 4, ".log"))
		unlink(path);
	return 0;
}

static int make_out(struct cli *cli, struct hil_run *run, char out[PATH_MAX])
{
	static const char *const reports[] = { REPORT_KTAP, REPORT_XML, REPORT_JSON };
	static const char *const folders[] = { "logs", "suites" };
	char path[PATH_MAX + 16];
	int code;

	if (run->out)
		snprintf(path, sizeof(path), "%s", run->out);
	else
		snprintf(path, sizeof(path), "hil-%s", run->target.name);
	code = make_folder(cli, path);
	if (code)
		return code;
	if (!realpath(path, out) || strlen(out) > 300) {
		tenon_error(-TENON_E_IO, "%s: not a folder whose path has at most 300 bytes", path);
		return cli_error(cli, CLI_NO_FILE);
	}
	run->session.out = out;
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", out, reports[i]);
		unlink(path);
	}
	for (size_t i = 0; !code && i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", out, folders[i]);
		code = make_folder(cli, path);
		nftw(path, remove_log, 8, FTW_PHYS);
	}
	return code;
}

static int make_work(struct cli *cli, char work[PATH_MAX])
{
	const char *base = getenv("TMPDIR");

	snprintf(work, PATH_MAX, "%s/tenon-hil-XXXXXX", base && *base ? base : "/tmp");
	if (strlen(work) < 300 && mkdtemp(work))
		return CLI_OK;
	tenon_error(-TENON_E_IO, "%s: cannot create: %s", work, strerror(errno));
	return cli_error(cli, CLI_NO_FILE);
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
	if (kind == FTW_DP)
		rmdir(path);
	else
		unlink(path);
	return 0;
}

static void remove_work(const char *work)
{
	nftw(work, remove_entry, 8, FTW_PHYS | FTW_DEPTH);
}

/* ---- the two processes of a run */

/* In the second process; it removes the files of the run, since the first may be dead by then. */
static int work_run(void *context, const struct stop *stop)
{
	struct hil_run *run = context;
	int code = hil_session_run(&run->session, stop);

	process_kill_children();
	remove_work(run->session.work);
	return code;
}

static int work_rescue(void *context, const struct stop *stop)
{
	struct hil_run *run = context;

	hil_session_rescue(&run->session, stop);
	process_kill_children();
	remove_work(run->session.work);
	fputs("tenon: the process that runs the suites was killed; the board was stopped\n",
	      stderr);
	return CLI_BROKEN;
}

/* ---- results */

/* The list of options is long: it is in the files, and with --verbose here too. */
static void print_lines(struct cli *cli, const struct hil_run *run, struct tenon_slice text)
{
	static const char left_out[] = "# configuration: ";
	size_t size = sizeof(left_out) - 1, line;

	for (; text.size; text.data += line, text.size -= line) {
		const char *end = memchr(text.data, '\n', text.size);

		line = end ? (size_t)(end - text.data) + 1 : text.size;
		if (run->verbose || line < size || memcmp(text.data, left_out, size))
			fwrite(text.data, 1, line, cli->out);
	}
}

static int print_report(struct cli *cli, const struct hil_run *run)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	char path[PATH_MAX + 16];
	int err;

	snprintf(path, sizeof(path), "%s/%s", run->session.out,
		 run->json ? REPORT_JSON : REPORT_KTAP);
	err = file_read_text(path, &text);
	if (!err)
		print_lines(cli, run, (struct tenon_slice){ text.data, text.size });
	tenon_buffer_fini(&text);
	return err ? cli_error(cli, CLI_NO_FILE) : CLI_OK;
}

static void explain_code(struct cli *cli, const struct hil_run *run, int code)
{
	static const char *const meanings[] = {
		[CLI_DIFFERS] = "a suite failed",
		[CLI_UNAVAILABLE] = "suites could not run",
		[CLI_BROKEN] = "the board or the connection to it broke",
	};
	const char *meaning = code == CLI_TIMEOUT ? "the whole run reached its deadline"
			      : code > 0 && code <= CLI_BROKEN ? meanings[code]
							       : NULL;

	if (!meaning)
		return;
	fputs("tenon: hil: ", cli->err);
	printable_print(run->target.name, cli->err);
	fprintf(cli->err, ": %s; the results are in ", meaning);
	printable_print(run->session.out, cli->err);
	fputc('\n', cli->err);
}

static int run_session(struct cli *cli, struct hil_run *run)
{
	const struct guard_work work = { work_run, work_rescue, run };
	char out[PATH_MAX], folder[PATH_MAX];
	int code = make_out(cli, run, out), printed;

	if (!code)
		code = make_work(cli, folder);
	if (code)
		return code;
	run->session.work = folder;
	run->session.progress = isatty(STDERR_FILENO) ? cli->err : NULL;
	if (guard_run(&work, &code)) {
		remove_work(folder);
		return cli_error(cli, CLI_FAILED);
	}
	printed = print_report(cli, run);
	explain_code(cli, run, code);
	return code ? code : printed;
}

static int run_target(struct cli *cli, struct hil_run *run, int argc, char **argv)
{
	int code;

	if (target_read(run->file, &run->target))
		return cli_error(cli, CLI_NO_FILE);
	run->session.target = &run->target;
	if (!run->session.deadline)
		run->session.deadline = run->target.deadlines.run;
	code = choose_suites(cli, run, argc, argv);
	return code ? code : run_session(cli, run);
}

static int hil_run(struct cli *cli, int argc, char **argv)
{
	struct hil_run run = { .session.seed = (uint64_t)time(NULL) };
	uint64_t deadline = 0;
	const struct cli_option options[] = {
		{ "deadline", .scaled = &deadline, .least = 1, .most = 7 * 24 * 3600, .unit = 1 },
		{ "json", .flag = &run.json },
		{ "out", .text = &run.out },
		{ "seed", .count = &run.session.seed, .to = UINT64_MAX },
		{ "target", .text = &run.file },
		{ "verbose", .flag = &run.verbose },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (!code && run.json)
		code = cli_needs_json(cli);
	if (code)
		return code;
	run.session.deadline = (int64_t)deadline;
	if (!run.file)
		return cli_usage(cli, "which board? --target TARGET.json is missing");
	code = run_target(cli, &run, argc, argv);
	hil_session_fini(&run.session);
	target_fini(&run.target);
	return code;
}

/* ---- the command */

static int hil_main(struct cli *cli, int argc, char **argv)
{
	static const struct cli_option none[] = { { 0 } };
	struct nearest_name nearest;

	if (argc < 2)
		return cli_usage(cli, "what to do is missing: run");
	if (!strcmp(argv[1], "run"))
		return hil_run(cli, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return cli_options(cli, argc, argv, none) == CLI_OPTIONS_DONE
			       ? CLI_OK
			       : cli_usage(cli, "%s: an action comes first", argv[1]);
	nearest = (struct nearest_name){ .wanted = tenon_slice_of(argv[1]) };
	nearest_name_offer(&nearest, tenon_slice_of("run"));
	return cli_unknown(cli, "action", argv[1], &nearest);
}

const struct cli_command hil_command = {
	"hil",
	"Start a board, run suites of tests on it, stop it",
	"Usage: tenon hil run --target TARGET.json [OPTION]... [SUITE]...\n"
	"\n"
	"  --target FILE          how to start, reach, reset and stop the board\n"
	"  --out DIR              folder for results and logs (hil-NAME)\n"
	"  --seed N               TENON_SEED of the suites (the time)\n"
	"  --deadline S           the longest run in seconds (3600, or the target's)\n"
	"  --json                 print JSON instead of KTAP\n"
	"  --verbose              print the options of this build too, which the files always "
	"have\n"
	"\n"
	"A SUITE is a suite of the target file, or a program to copy to the board; all suites of "
	"the\n"
	"target file by default. The folder of results receives results.ktap, results.xml "
	"(JUnit),\n"
	"results.json, the output of each suite and all logs. Exit status: 0 all passed, 1 a "
	"suite\n"
	"failed, 4 a suite could not run, 6 the board or the connection broke, 124 the deadline of "
	"the\n"
	"run passed.\n",
	hil_main,
};
