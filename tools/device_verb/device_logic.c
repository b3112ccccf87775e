/* SPDX-License-Identifier: MIT */
/* Load bitstreams and overlays by the kernel's FPGA manager, and report what operates. */
#include "tools/device_verb/device.h"

#include <stdlib.h>
#include <string.h>

#include "driver/fpga/fpga_bitstream.h"
#include "lib/file_map.h"
#include "lib/option.h"
#include "tools/cli/progress.h"
#include "tools/file/output.h"
#include "tools/text/text.h"

/* ---- bitstreams */

/* "fpga12" */
static int manager_number(const char *name, unsigned int *out)
{
	char *end = NULL;
	unsigned long number = 0;

	if (!strncmp(name, "fpga", 4) && name[4] >= '0' && name[4] <= '9')
		number = strtoul(name + 4, &end, 10);
	if (end && !*end && number <= 9999) {
		*out = (unsigned int)number;
		return 0;
	}
	return tenon_error(-TENON_E_VALUE,
			   "\"%s\" is no FPGA manager: those of this machine are the names in "
			   "/sys/class/fpga_manager, for example fpga0",
			   name);
}

static int find_manager(const struct device_logic *l, struct fpga *f)
{
	unsigned int number = 0;
	int err = manager_number(l->manager, &number);

	err = err ? err : fpga_open(NULL, l->root, number, f);
	if (err != -TENON_E_NOT_FOUND)
		return err;
	return tenon_error_in(err,
			      "the kernel has no FPGA manager %s; \"tenon doctor --board\" "
			      "shows what it has",
			      l->manager);
}

static int read_bitstream(const char *path, struct tenon_slice *bytes, struct fpga_bitstream *out)
{
	struct tenon_cursor c;
	int err = file_map_open(path, bytes);

	if (err)
		return err;
	c = tenon_cursor_of(bytes->data, bytes->size, path, 0);
	err = fpga_bitstream_read(&c, out);
	if (err || !tenon_cursor_left(&c))
		return err;
	return tenon_cursor_error(&c, -TENON_E_FORMAT, "%zu bytes behind the bitstream",
				  tenon_cursor_left(&c));
}

/* Check a bitstream, and that the kernel reads its bytes: from the file below /lib/firmware that it names. */
static int prepare(const struct device_logic *l, struct tenon_slice *bytes,
		   struct fpga_bitstream *b)
{
	char path[FPGA_PATH];
	int err = read_bitstream(l->file, bytes, b);

	err = err ? err : fpga_bitstream_check(b);
	err = err ? err : fpga_bitstream_path(l->root, b, path, sizeof(path));
	if (!err && l->copy) {
		progress_say("writing %s", path);
		return output_replace(path, &b->bytes, 1);
	}
	if (err)
		return err;
	err = fpga_bitstream_check_file(path, b);
	return err ? tenon_error_in(err, "--copy writes the bitstream there") : 0;
}

static int report(struct cli *cli, const struct device_logic *l, const struct fpga *f,
		  const struct fpga_bitstream *b)
{
	struct tenon_slice what = b->region.size ? b->region : tenon_slice_of("all logic");

	if (OPTION_ON(JSON) && l->json)
		return device_program_json(l, f, b, cli->out) ? cli_error(cli, CLI_FAILED) : CLI_OK;
	fprintf(cli->out, "%s (", l->manager);
	printable_print(f->name, cli->out);
	fprintf(cli->out, ") operates: %.*s is %.*s, %zu bytes for %.*s\n", (int)what.size,
		what.data, (int)b->firmware.size, b->firmware.data, b->bytes.size,
		(int)b->part.size, b->part.data);
	return CLI_OK;
}

int device_logic_program(struct cli *cli, const struct device_logic *l)
{
	struct tenon_slice bytes = { NULL, 0 };
	struct fpga_bitstream b;
	struct fpga f;
	int err = find_manager(l, &f), code;

	if (err)
		return cli_error(cli, err == -TENON_E_VALUE ? CLI_USAGE : CLI_UNAVAILABLE);
	err = prepare(l, &bytes, &b);
	if (err) {
		code = cli_error(cli, err == -TENON_E_UNSUPPORTED ? CLI_UNAVAILABLE : CLI_NO_FILE);
	} else {
		progress_say("loading %.*s", (int)b.firmware.size, b.firmware.data);
		err = fpga_bitstream_load(&f, l->root, &b);
		code = err ? cli_error(cli, CLI_UNAVAILABLE) : report(cli, l, &f, &b);
	}
	file_map_close(&bytes);
	return code;
}

/* ---- overlays */

static int report_overlay(struct cli *cli, const struct device_logic *l, bool is_applied)
{
	if (OPTION_ON(JSON) && l->json)
		return device_overlay_json(l, is_applied, cli->out) ? cli_error(cli, CLI_FAILED)
								    : CLI_OK;
	printable_format(cli->out, "the overlay %s was %s\n", l->overlay,
			 is_applied ? "applied" : "removed");
	return CLI_OK;
}

int device_logic_apply(struct cli *cli, const struct device_logic *l)
{
	if (fpga_overlay_check(l->root, l->overlay, l->file))
		return cli_error(cli, CLI_USAGE);
	if (fpga_overlay_apply(NULL, l->root, l->overlay, l->file))
		return cli_error(cli, CLI_UNAVAILABLE);
	return report_overlay(cli, l, true);
}

int device_logic_remove(struct cli *cli, const struct device_logic *l)
{
	if (fpga_overlay_check(l->root, l->overlay, NULL))
		return cli_error(cli, CLI_USAGE);
	if (fpga_overlay_remove(NULL, l->root, l->overlay))
		return cli_error(cli, CLI_UNAVAILABLE);
	return report_overlay(cli, l, false);
}
