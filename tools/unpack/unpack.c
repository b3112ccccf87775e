/* SPDX-License-Identifier: MIT */
/* Parse the words, take the module apart, print what was written. */
#include "tools/cli/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/link.h>

#include "tools/text/text.h"

static void print_parts(const struct cli *cli, const char *folder,
			const struct tenon_link_unpacked *u)
{
	const struct tenon_link_part *p;
	size_t i;

	printable_format(cli->out, "%s/%s: host code, %s\n", folder, u->host, u->machine);
	for (i = 0; i < u->part_count; i++) {
		p = u->parts[i];
		if (!strcmp(p->file, u->host))
			continue;
		printable_format(cli->out, "%s/%s: ", folder, p->file);
		printable_cell(p->kind, 0, cli->out);
		fprintf(cli->out, ", %" PRIu64 " bytes%s%s\n", p->bytes,
			*p->table ? ", kernels in " : "", p->table);
	}
	printable_format(cli->out, "%s/%s\n", folder, u->manifest);
}

static int unpack_main(struct cli *cli, int argc, char **argv)
{
	const struct cli_option options[] = { { 0 } };
	const struct tenon_link_unpacked *u;
	int err = cli_options(cli, argc, argv, options);

	if (err)
		return err;
	if (argc - optind != 2)
		return cli_usage(cli,
				 "which module, and into which folder? tenon unpack FILE FOLDER");
	err = tenon_link_unpack(argv[optind], argv[optind + 1], &u);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	if (!u->same)
		printable_format(
			cli->err,
			"tenon: %s: its import tree is in an unusual form; linked again, the file "
			"works alike but has other bytes\n",
			argv[optind]);
	print_parts(cli, argv[optind + 1], u);
	tenon_link_unpacked_free(u);
	return CLI_OK;
}

const struct cli_command unpack_command = {
	"unpack",
	"Take a module apart, without running any of it",
	"Usage: tenon unpack FILE FOLDER\n"
	"\n"
	"Writes each part of a module to a file of its own: host.so, the code of the host without\n"
	"imports; the program of each device, such as vecadd.cl, with the table of its kernels in\n"
	"vecadd.tvm_meta.json; other payloads as they are. manifest.json tells how they fit.\n"
	"Exchange a program and put the module together again:\n"
	"  tenon link -o FILE FOLDER/manifest.json\n"
	"With no file changed, that gives the same bytes.\n",
	unpack_main,
};
