/* SPDX-License-Identifier: MIT */
#include "tools/doctor/doctor.h"

#include <string.h>

#include "tools/cli/cli.h"
#include "tools/devices/driver_probe.h"

const char *finding_word(enum finding_level level)
{
	static const char *const words[] = { "ok", "warn", "fail" };

	return words[level];
}

static void print_details(const char *line, FILE *out)
{
	while (line && *line) {
		size_t n = strcspn(line, "\n");

		fprintf(out, "%-5s %-14s %.*s\n", "", "", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

static void print_findings(const struct finding *findings, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct finding *f = &findings[i];

		fprintf(out, "%-5s %-14s %s\n", finding_word(f->level), f->name, f->text);
		if (*f->remedy)
			fprintf(out, "%-5s %-14s → %s\n", "", "", f->remedy);
		print_details(f->details, out);
	}
}

static int doctor_main(struct cli *cli, int argc, char **argv)
{
	struct finding findings[FINDINGS_MOST];
	size_t count;
	double timeout;
	bool json;
	int code;

	code = cli_driver_options(cli, argc, argv, &json, &timeout);
	if (code)
		return code == CLI_OPTIONS_DONE ? CLI_OK : code;
	driver_probe_seconds(timeout);
	count = doctor_examine(findings);
	if (!json)
		print_findings(findings, count, cli->out);
	else if (doctor_json(findings, count, cli->out))
		return cli_error(cli, CLI_FAILED);
	for (size_t i = 0; i < count; i++) {
		if (findings[i].level == FINDING_FAIL)
			return CLI_UNAVAILABLE;
	}
	return CLI_OK;
}

const struct cli_command doctor_command = {
	"doctor",
	"Look for what could keep modules from running here",
	"Usage: tenon doctor [--json] [--timeout S]\n"
	"\n"
	"  --json        print JSON\n"
	"  --timeout S   give up on a driver after S seconds (20)\n"
	"\n"
	"Each line is ok, warn or fail, followed by what to do. Exit status: 4 when one is fail.\n",
	doctor_main,
};
