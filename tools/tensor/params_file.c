/* SPDX-License-Identifier: MIT */
/* Open a file of parameters: by the library, or arrays of numpy. */
#include "tools/tensor/params_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/option.h"
#include "tools/tensor/npz.h"

/* the arrays, as an object that a list of parameters keeps */
struct arrays {
	struct tenon_object object;
	struct npz npz;
};

static void arrays_delete(void *self, int flags)
{
	struct arrays *a = self;

	if (flags & TENON_DELETE_CONTENT)
		npz_fini(&a->npz);
	if (flags & TENON_DELETE_MEMORY)
		free(a);
}

static int open_npz(const char *path, struct tenon_params **out)
{
	struct arrays *a = calloc(1, sizeof(*a));
	int err;

	*out = NULL;
	if (!a)
		return tenon_error(-TENON_E_NOMEM, "no memory for arrays");
	tenon_object_init(&a->object, TENON_TYPE_OBJECT, arrays_delete);
	err = npz_read(path, &a->npz);
	if (!err)
		err = tenon_params_create(a->npz.params, a->npz.count, &a->object, out);
	tenon_object_unref(a);
	return err;
}

static bool is_npz(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[4] = "";
	bool zip = fd >= 0 && read(fd, head, 4) == 4 && !memcmp(head, "PK\x03\x04", 4);

	if (fd >= 0)
		close(fd);
	return zip;
}

int params_file_open(const char *path, struct tenon_params **out)
{
	int err;

	if (OPTION_ON(NPZ) && is_npz(path))
		return open_npz(path, out);
	err = tenon_params_open(path, out);
	/* Unknown types of elements are an error of the file, not of the build. */
	return err == -TENON_E_UNSUPPORTED ? -TENON_E_FORMAT : err;
}
