/* SPDX-License-Identifier: MIT */
/* Read the state of an FPGA manager in sysfs and load a bitstream by its name. */
#include "driver/fpga/fpga.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/fpga/fpga_private.h"
#include "lib/brief_errors.h"

#define PARTIAL "0x1" /* FPGA_MGR_PARTIAL_RECONFIG */

static const char *attribute(const struct fpga *f, const char *name, char *path, size_t room)
{
	snprintf(path, room, "%s/%s", f->folder, name);
	return path;
}

int fpga_open(const struct system_calls *calls, const char *root, unsigned int number,
	      struct fpga *out)
{
	char path[PATH_MAX];

	memset(out, 0, sizeof(*out));
	out->calls = system_calls_or_kernel(calls);
	if (snprintf(out->folder, sizeof(out->folder), "%s/sys/class/fpga_manager/fpga%u", root,
		     number) >= (int)sizeof(out->folder))
		return tenon_error(-TENON_E_VALUE, "%s: the path is too long", root);
	return system_read_text(out->calls, attribute(out, "name", path, sizeof(path)), out->name,
				sizeof(out->name));
}

/* "write init error", "write complete": the words of a step, and of its failure */
static enum fpga_state state_of(const char *words)
{
	size_t n = strlen(words);

	if (!strcmp(words, "operating"))
		return FPGA_OPERATING;
	if (n >= 5 && !strcmp(words + n - 5, "error"))
		return FPGA_FAILED;
	if (!strncmp(words, "write", 5) || !strncmp(words, "firmware request", 16) ||
	    !strncmp(words, "parse header", 12))
		return FPGA_LOADING;
	return FPGA_EMPTY;
}

int fpga_get_state(struct fpga *f, enum fpga_state *state, char *words, size_t room)
{
	char path[PATH_MAX];
	int err =
		system_read_text(f->calls, attribute(f, "state", path, sizeof(path)), words, room);

	*state = state_of(words);
	return err;
}

/* Lines such as "reconfig CRC error"; managers without details have none. */
static int read_details(struct fpga *f, char *details, size_t room)
{
	char path[PATH_MAX];
	int err = system_read_text(f->calls, attribute(f, "status", path, sizeof(path)), details,
				   room);

	for (char *line = strchr(details, '\n'); line; line = strchr(line, '\n'))
		*line = ',';
	if (err != -TENON_E_NOT_FOUND)
		return err;
	tenon_error_clear();
	return 0;
}

int fpga_check(struct fpga *f)
{
	char words[64], details[256];
	enum fpga_state state;
	int err = fpga_get_state(f, &state, words, sizeof(words));

	if (!err)
		err = read_details(f, details, sizeof(details));
	if (err)
		return err;
	if (state == FPGA_OPERATING && !*details)
		return 0;
	return tenon_error(-TENON_E_DEVICE, "%s (%s): the state is \"%s\"%s%s", f->folder, f->name,
			   words, *details ? ", " : "", details);
}

int fpga_check_firmware(const char *firmware)
{
	if (*firmware && *firmware != '/' && !strchr(firmware, '\n') && !strstr(firmware, ".."))
		return 0;
	return tenon_error(-TENON_E_VALUE, "\"%s\" is not a path below /lib/firmware", firmware);
}

/* The write fails with an errno of the step that failed. The state says which step that was. */
static int load_failed(struct fpga *f, int err)
{
	char words[64], details[256] = "", before[512];
	enum fpga_state state;

	/* save the message: the queries below raise errors of their own */
	snprintf(before, sizeof(before), "%s", tenon_error_message());
	if (fpga_get_state(f, &state, words, sizeof(words)) ||
	    read_details(f, details, sizeof(details)) || state != FPGA_FAILED)
		return tenon_error(err, "%s", before);
	if (err != -TENON_E_NOT_FOUND && err != -TENON_E_NOMEM && err != -TENON_E_LOST)
		err = -TENON_E_DEVICE;
	return tenon_error(err, "%s; the state is \"%s\"%s%s", before, words, *details ? ", " : "",
			   details);
}

int fpga_load(struct fpga *f, const char *firmware, bool partial)
{
	char path[PATH_MAX];
	int err = fpga_check_firmware(firmware);

	if (err)
		return err;
	err = system_write_text(f->calls, attribute(f, "flags", path, sizeof(path)),
				partial ? PARTIAL : "0x0");
	if (err == -TENON_E_NOT_FOUND)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: this kernel loads bitstreams by device-tree overlays only",
				   f->folder);
	if (err)
		return err;
	err = system_write_text(f->calls, attribute(f, "firmware", path, sizeof(path)), firmware);
	return err ? load_failed(f, err) : fpga_check(f);
}
