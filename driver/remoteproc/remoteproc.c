/* SPDX-License-Identifier: MIT */
/* Boot and stop a core by the attributes of its remoteproc in sysfs. */
#include "driver/remoteproc/remoteproc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/* as in linux/remoteproc_cdev.h, which some C libraries do not install */
#define SET_SHUTDOWN_ON_RELEASE _IOW(0xb7, 1, int32_t)

static const char *const state_names[] = {
	[REMOTEPROC_OFFLINE] = "offline",   [REMOTEPROC_SUSPENDED] = "suspended",
	[REMOTEPROC_RUNNING] = "running",   [REMOTEPROC_CRASHED] = "crashed",
	[REMOTEPROC_ATTACHED] = "attached", [REMOTEPROC_DETACHED] = "detached",
	[REMOTEPROC_UNKNOWN] = "unknown",
};

static const char *attribute(const struct remoteproc *r, const char *name, char *path, size_t room)
{
	snprintf(path, room, "%s/%s", r->folder, name);
	return path;
}

int remoteproc_open(const struct system_calls *calls, const char *root, unsigned int number,
		    struct remoteproc *out)
{
	char path[PATH_MAX];

	memset(out, 0, sizeof(*out));
	out->calls = system_calls_or_kernel(calls);
	out->fd = -1;
	snprintf(out->node, sizeof(out->node), "%s/dev/remoteproc%u", root, number);
	if (snprintf(out->folder, sizeof(out->folder), "%s/sys/class/remoteproc/remoteproc%u", root,
		     number) >= (int)sizeof(out->folder))
		return tenon_error(-TENON_E_VALUE, "%s: the path is too long", root);
	return system_read_text(out->calls, attribute(out, "name", path, sizeof(path)), out->name,
				sizeof(out->name));
}

void remoteproc_close(struct remoteproc *r)
{
	system_close(r->calls, &r->fd);
}

int remoteproc_get_state(struct remoteproc *r, enum remoteproc_state *state)
{
	char path[PATH_MAX], text[32];
	int err = system_read_text(r->calls, attribute(r, "state", path, sizeof(path)), text,
				   sizeof(text));

	*state = REMOTEPROC_OFFLINE;
	while (*state < REMOTEPROC_UNKNOWN && strcmp(text, state_names[*state]))
		(*state)++;
	return err;
}

const char *remoteproc_state_name(enum remoteproc_state state)
{
	return state_names[state <= REMOTEPROC_UNKNOWN ? state : REMOTEPROC_UNKNOWN];
}

int remoteproc_check(struct remoteproc *r)
{
	enum remoteproc_state state;
	int err = remoteproc_get_state(r, &state);

	if (err)
		return err;
	if (state == REMOTEPROC_RUNNING || state == REMOTEPROC_ATTACHED)
		return 0;
	return tenon_error(state == REMOTEPROC_CRASHED ? -TENON_E_LOST : -TENON_E_DEVICE,
			   "%s (%s): the core is %s", r->folder, r->name,
			   remoteproc_state_name(state));
}

/* The kernel opens the file as root: keep it inside the folder of firmware. */
static int check_name(const char *firmware)
{
	if (*firmware && *firmware != '/' && !strchr(firmware, '\n') && !strstr(firmware, ".."))
		return 0;
	return tenon_error(-TENON_E_VALUE, "\"%s\" is not a path below /lib/firmware", firmware);
}

int remoteproc_set_firmware(struct remoteproc *r, const char *firmware)
{
	char path[PATH_MAX];
	int err = check_name(firmware);

	if (err)
		return err;
	return system_write_text(r->calls, attribute(r, "firmware", path, sizeof(path)), firmware);
}

int remoteproc_get_firmware(struct remoteproc *r, char *firmware, size_t room)
{
	char path[PATH_MAX];

	return system_read_text(r->calls, attribute(r, "firmware", path, sizeof(path)), firmware,
				room);
}

static int write_state(struct remoteproc *r, const char *word)
{
	char path[PATH_MAX];

	return system_write_text(r->calls, attribute(r, "state", path, sizeof(path)), word);
}

/* ENOENT of the write, not of the attribute: the core has a name, so its attributes exist. */
static int firmware_missing(struct remoteproc *r)
{
	char firmware[PATH_MAX];
	int err = remoteproc_get_firmware(r, firmware, sizeof(firmware));

	if (err)
		return err;
	return tenon_error(-TENON_E_NOT_FOUND,
			   "%s (%s): the kernel did not find the firmware /lib/firmware/%s",
			   r->folder, r->name, firmware);
}

int remoteproc_start(struct remoteproc *r)
{
	enum remoteproc_state state;
	int err = remoteproc_get_state(r, &state);

	if (err)
		return err;
	if (state == REMOTEPROC_RUNNING || state == REMOTEPROC_ATTACHED)
		return 0;
	err = write_state(r, "start");
	if (err == -TENON_E_NOT_FOUND)
		return firmware_missing(r);
	return err ? err : remoteproc_check(r);
}

/* Newer kernels stop no core that crashed. A recovery boots it again, and then it can be stopped. */
static int stop_crashed(struct remoteproc *r)
{
	char path[PATH_MAX];
	int err = write_state(r, "stop");

	if (err != -TENON_E_VALUE)
		return err;
	tenon_error_clear();
	err = system_write_text(r->calls, attribute(r, "recovery", path, sizeof(path)), "recover");
	return err ? err : write_state(r, "stop");
}

int remoteproc_stop(struct remoteproc *r)
{
	enum remoteproc_state state;
	int err = remoteproc_get_state(r, &state);

	if (err || state == REMOTEPROC_OFFLINE)
		return err;
	return state == REMOTEPROC_CRASHED ? stop_crashed(r) : write_state(r, "stop");
}

int remoteproc_stop_on_exit(struct remoteproc *r)
{
	int32_t on = 1;
	int err;

	if (r->fd >= 0)
		return 0;
	r->fd = system_open(r->calls, r->node, O_RDWR);
	if (r->fd < 0)
		return r->fd;
	err = system_ioctl(r->calls, r->fd, SET_SHUTDOWN_ON_RELEASE, &on);
	if (err >= 0)
		return 0;
	system_close(r->calls, &r->fd);
	return system_error(-err, r->node, "let the core stop on exit");
}
