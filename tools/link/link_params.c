/* SPDX-License-Identifier: MIT */
/* The parameters of a model: a .params file, or numpy's .npz, which becomes one. */
#include <stdio.h>
#include <string.h>

#include "lib/file_map.h"
#include "tools/link/link.h"

#ifdef CONFIG_NPZ
#include "tools/tensor/npz.h"

static int convert(const char *npz_path, const char *folder, struct tenon_slice *out)
{
	char path[LINK_FOLDER_ROOM + 16];
	struct npz npz;
	int err;

	snprintf(path, sizeof(path), "%s/params", folder);
	err = npz_read(npz_path, &npz);
	if (!err)
		err = tenon_params_write(path, npz.params, npz.count, 0);
	if (!err)
		err = file_map_open(path, out);
	npz_fini(&npz);
	return err;
}

static int open_npz(const char *path, struct tenon_slice *out)
{
	char folder[LINK_FOLDER_ROOM];
	int err;

	err = link_folder_make(folder);
	if (!err)
		err = convert(path, folder, out);
	link_folder_remove(folder);
	return err;
}
#else
static int open_npz(const char *path, struct tenon_slice *out)
{
	(void)out;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: this build reads no .npz files: CONFIG_NPZ is off", path);
}
#endif

int link_params_open(const char *path, struct tenon_slice *out)
{
	const char *dot = strrchr(path, '.');

	*out = (struct tenon_slice){ NULL, 0 };
	return dot && !strcmp(dot, ".npz") ? open_npz(path, out) : file_map_open(path, out);
}
