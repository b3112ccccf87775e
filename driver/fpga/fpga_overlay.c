/* SPDX-License-Identifier: MIT */
/* Apply and remove device-tree overlays in configfs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/fpga/fpga.h"
#include "driver/fpga/fpga_private.h"
#include "lib/brief_errors.h"

static int folder_of(const char *root, const char *name, char *folder, size_t room)
{
	if (*name && *name != '.' && !strchr(name, '/') &&
	    snprintf(folder, room, "%s/sys/kernel/config/device-tree/overlays/%s", root, name) <
		    (int)room)
		return 0;
	return tenon_error(-TENON_E_VALUE, "\"%s\" is not the name of an overlay", name);
}

static int make_folder(const struct system_calls *calls, const char *folder)
{
	if (!calls->mkdir(folder, 0755))
		return 0;
	if (errno == ENOENT)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s: the kernel has no overlays in configfs, or configfs is not mounted",
			folder);
	return system_error(errno, folder, "make the overlay");
}

static int fill(const struct system_calls *calls, const char *folder, const char *firmware)
{
	char path[PATH_MAX], status[32];
	int err;

	snprintf(path, sizeof(path), "%s/path", folder);
	err = system_write_text(calls, path, firmware);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/status", folder);
	err = system_read_text(calls, path, status, sizeof(status));
	if (err || !strcmp(status, "applied"))
		return err;
	return tenon_error(-TENON_E_DEVICE, "%s: the overlay %s was not applied: \"%s\"", folder,
			   firmware, status);
}

int fpga_overlay_check(const char *root, const char *name, const char *firmware)
{
	char folder[512];
	int err = firmware ? fpga_check_firmware(firmware) : 0;

	return err ? err : folder_of(root, name, folder, sizeof(folder));
}

int fpga_overlay_apply(const struct system_calls *calls, const char *root, const char *name,
		       const char *firmware)
{
	char folder[512];
	int err = fpga_check_firmware(firmware);

	calls = system_calls_or_kernel(calls);
	if (!err)
		err = folder_of(root, name, folder, sizeof(folder));
	if (!err)
		err = make_folder(calls, folder);
	if (err)
		return err;
	err = fill(calls, folder, firmware);
	if (err)
		calls->rmdir(folder);
	return err;
}

int fpga_overlay_remove(const struct system_calls *calls, const char *root, const char *name)
{
	char folder[512];
	int err = folder_of(root, name, folder, sizeof(folder));

	if (err)
		return err;
	if (!system_calls_or_kernel(calls)->rmdir(folder))
		return 0;
	return system_error(errno, folder, "remove the overlay");
}
