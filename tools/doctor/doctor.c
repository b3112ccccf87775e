/* SPDX-License-Identifier: MIT */
/* Parse options, run the checks, print findings. */
#include "tools/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/option.h"
#include "tools/cli/cli.h"
#include "tools/devices_verb/driver_probe.h"
#include "tools/text/text.h"

const char *finding_word(enum finding_level level)
{
	static const char *const words[] = { "ok", "warn", "fail" };

	return words[level];
}

static void print_details(const char *line, FILE *out)
{
	while (line && *line) {
		size_t n = strcspn(line, "\n");

		fprintf(out, "%-5s %-14s ", "", "");
		printable_lines((struct tenon_slice){ line, n }, out);
		fputc('\n', out);
		line += n + (line[n] == '\n');
	}
}

static void print_findings(const struct finding *findings, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct finding *f = &findings[i];

		fprintf(out, "%-5s %-14s ", finding_word(f->level), f->name);
		printable_print(f->text, out);
		fputc('\n', out);
		if (*f->remedy) {
			fprintf(out, "%-5s %-14s → ", "", "");
			printable_print(f->remedy, out);
			fputc('\n', out);
		}
		print_details(f->details, out);
	}
}

/**
 * struct wanted - the command line
 * @verbose: list the options of this build too
 * @board: check what the kernel offers for boards, in place of what modules need
 * @cdi: print what containers need of devices, in place of checks
 * @root: prefix of the paths that are looked at for these two
 */
struct wanted {
	bool json;
	bool verbose;
	bool board;
	bool cdi;
	const char *root;
	double timeout;
};

static int read_options(struct cli *cli, int argc, char **argv, struct wanted *w)
{
	const struct cli_option options[] = { { "json", .flag = &w->json },
					      { "timeout", .real = &w->timeout },
					      { "board", .flag = &w->board },
					      { "root", .text = &w->root },
					      { "cdi", .flag = &w->cdi },
					      { "verbose", .flag = &w->verbose },
					      { 0 } };
	int code;

	*w = (struct wanted){ .root = "" };
	code = cli_options(cli, argc, argv, options);
	if (code)
		return code;
	if (w->board && w->cdi)
		return cli_usage(cli, "--board and --cdi exclude each other");
	if (!w->board && optind < argc)
		return cli_usage(cli, "%s: only with --board", argv[optind]);
	if (!w->board && !w->cdi && *w->root)
		return cli_usage(cli, "--root: only with --board or --cdi");
	if (!OPTION_ON(DEVICES) && w->cdi) {
		tenon_error(-TENON_E_UNSUPPORTED, "--cdi needs CONFIG_DEVICES");
		return cli_error(cli, CLI_UNAVAILABLE);
	}
	return w->json || w->cdi ? cli_needs_json(cli) : CLI_OK;
}

/* Return: 0; an exit code, with a message. */
static int examine_board(struct cli *cli, char **devices, const char *root,
			 struct finding *findings, size_t *count)
{
	size_t found;

	*count = doctor_board(root, findings, FINDINGS_MOST / 2);
	for (; *devices; devices++) {
		found = doctor_transport(root, *devices, findings + *count, FINDINGS_MOST - *count);
		if (!found)
			return cli_usage(cli,
					 "%s: want mortise://uio/N, mortise://vfio/ADDRESS or "
					 "mortise://remoteproc/N",
					 *devices);
		*count += *count + found < FINDINGS_MOST ? found : 0;
	}
	return 0;
}

static int examine(struct cli *cli, const struct wanted *w, char **devices,
		   struct finding *findings)
{
	size_t count;
	int code = CLI_OK;

	if (!w->board)
		count = doctor_examine(findings, w->verbose || w->json);
	else
		code = examine_board(cli, devices, w->root, findings, &count);
	if (code)
		return code;
	if (!w->json)
		print_findings(findings, count, cli->out);
	else if (OPTION_ON(JSON) && doctor_json(findings, count, cli->out))
		return cli_error(cli, CLI_FAILED);
	for (size_t i = 0; i < count; i++) {
		if (findings[i].level == FINDING_FAIL)
			return CLI_UNAVAILABLE;
	}
	return CLI_OK;
}

static int doctor_main(struct cli *cli, int argc, char **argv)
{
	struct finding *findings;
	struct wanted w;
	int code;

	code = read_options(cli, argc, argv, &w);
	if (code)
		return code;
	if (OPTION_ON(DEVICES))
		driver_probe_seconds(w.timeout);
	if (OPTION_ON(DEVICES) && OPTION_ON(JSON) && w.cdi)
		return doctor_cdi(cli, w.root) ? cli_error(cli, CLI_UNAVAILABLE) : CLI_OK;
	findings = calloc(FINDINGS_MOST, sizeof(*findings));
	if (!findings) {
		tenon_error(-TENON_E_NOMEM, "no memory for findings");
		return cli_error(cli, CLI_FAILED);
	}
	code = examine(cli, &w, argv + optind, findings);
	free(findings);
	return code;
}

const struct cli_command doctor_command = {
	"doctor",
	"Look for what could keep modules from running here",
	"Usage: tenon doctor [--json] [--timeout S] [--verbose]\n"
	"       tenon doctor --board [--json] [--root DIR] [DEVICE...]\n"
	"       tenon doctor --cdi [--root DIR]\n"
	"\n"
	"  --json        print JSON\n"
	"  --timeout S   give up on a driver after S seconds (20)\n"
	"  --verbose     list the options of this build too\n"
	"  --board       check what the kernel offers for boards, and each DEVICE:\n"
	"                mortise://uio/N, mortise://vfio/ADDRESS, mortise://remoteproc/N\n"
	"  --root DIR    look below DIR in place of /\n"
	"  --cdi         print what containers need of the devices here, for /etc/cdi/tenon.json:\n"
	"                podman run --device tenon.dev/device=opencl:0\n"
	"\n"
	"Each line is ok, warn or fail, followed by what to do. Exit status: 4 when one is fail.\n",
	doctor_main,
};
