/* SPDX-License-Identifier: MIT */
/* tenon run --record: begin the record of a run, and print what was recorded when the run ends. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/record.h"
#include "tools/run/run.h"
#include "tools/text/text.h"

int run_begin_record(struct cli *cli, const struct run_options *o)
{
	const char **files = calloc(o->import_count + 1, sizeof(*files));
	struct record_options options = { .folder = o->record, .limit = o->record_limit };
	int err;

	if (!files) {
		err = tenon_error(-TENON_E_NOMEM, "no memory for a record");
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	}
	files[options.file_count++] = o->file;
	for (size_t i = 0; i < o->import_count; i++)
		files[options.file_count++] = o->imports[i];
	options.files = files;
	err = record_begin(&options);
	free(files);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : 0;
}

int run_end_record(struct cli *cli, const struct run_options *o)
{
	struct record_report r;
	char size[SIZE_TEXT];

	if (record_end(&r))
		return cli_error(cli, CLI_NO_FILE);
	printable_format(cli->err, "tenon: %s: %" PRIu64 " operation%s recorded, %s\n", o->record,
			 r.operations, r.operations == 1 ? "" : "s", size_text(r.bytes, size));
	for (unsigned int i = 0; i < RECORD_LACKS; i++)
		if (r.left_out[i])
			printable_format(cli->err, "tenon: %s: %" PRIu64 " left out: %s%s\n",
					 o->record, r.left_out[i], record_lack_text(i),
					 i == RECORD_LACK_LIMIT ? "; raise --record-limit" : "");
	return 0;
}
