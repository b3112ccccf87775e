/* SPDX-License-Identifier: MIT */
/* Parameters in numpy's .npz files become those of a .params file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/file_map.h"
#include "lib/option.h"
#include "tools/link_verb/link_options.h"
#include "tools/tensor/npz.h"

static int convert(const char *npz_path, const char *path, struct tenon_slice *out)
{
	struct npz npz;
	int err;

	err = npz_read(npz_path, &npz);
	if (!err)
		err = tenon_params_write(path, npz.params, npz.count, 0);
	if (!err)
		err = file_map_open(path, out);
	npz_fini(&npz);
	return err;
}

static int read_npz(const char *path, struct tenon_slice *out)
{
	const char *base = getenv("TMPDIR");
	struct tenon_buffer name = TENON_BUFFER_INIT;
	int fd, err;

	if (!OPTION_ON(NPZ))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: this build reads no .npz files: CONFIG_NPZ is off", path);
	err = tenon_buffer_printf(&name, "%s/tenon-params-XXXXXX", base && *base ? base : "/tmp");
	if (err)
		return err;
	fd = mkstemp(name.data);
	if (fd < 0) {
		err = tenon_error(-TENON_E_IO, "cannot make a temporary file: %s; set TMPDIR",
				  strerror(errno));
	} else {
		close(fd);
		err = convert(path, name.data, out);
		unlink(name.data);
	}
	tenon_buffer_fini(&name);
	return err;
}

int link_params_read(struct tenon_link_options *o)
{
	const char *dot = o->params ? strrchr(o->params, '.') : NULL;

	return dot && !strcmp(dot, ".npz") ? read_npz(o->params, &o->params_bytes) : 0;
}

void link_params_close(struct tenon_link_options *o)
{
	file_map_close(&o->params_bytes);
}
