/* SPDX-License-Identifier: MIT */
/* Temporary files of tenon link. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "link/link_request.h"

int link_folder_make(char folder[LINK_FOLDER_ROOM])
{
	const char *base = getenv("TMPDIR");
	int n;

	n = snprintf(folder, LINK_FOLDER_ROOM, "%s/tenon-link-XXXXXX",
		     base && *base ? base : "/tmp");
	if (n < 0 || n >= LINK_FOLDER_ROOM - 64)
		errno = ENAMETOOLONG;
	if (n < 0 || n >= LINK_FOLDER_ROOM - 64 || !mkdtemp(folder)) {
		folder[0] = 0;
		return tenon_error(-TENON_E_IO, "cannot make a temporary folder: %s; set TMPDIR",
				   strerror(errno));
	}
	return 0;
}

static int remove_it(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	remove(path);
	return 0;
}

void link_folder_remove(const char *folder)
{
	if (*folder)
		nftw(folder, remove_it, 8, FTW_DEPTH | FTW_PHYS);
}

int link_folder_write_parts(const char *folder, const char *name, const struct tenon_slice *parts,
			    size_t count)
{
	struct tenon_buffer path = TENON_BUFFER_INIT;
	bool failed;
	FILE *file;
	size_t i;

	if (tenon_buffer_printf(&path, "%s/%s", folder, name))
		return tenon_error(-TENON_E_NOMEM, "no memory for temporary files");
	file = fopen(path.data, "we");
	failed = !file;
	for (i = 0; i < count && !failed; i++)
		failed = parts[i].size &&
			 fwrite(parts[i].data, 1, parts[i].size, file) != parts[i].size;
	if (file && fclose(file))
		failed = true;
	tenon_buffer_fini(&path);
	return failed ? tenon_error(-TENON_E_IO, "cannot write to %s: %s", folder, strerror(errno))
		      : 0;
}

int link_folder_write(const char *folder, const char *name, struct tenon_slice bytes)
{
	return link_folder_write_parts(folder, name, &bytes, 1);
}
