/* SPDX-License-Identifier: MIT */
/* In a process in the sandbox: build the kernels of a shared object, and run nothing of it (kernel_store.h). */
#include <stdio.h>

#include <tenon/buffer.h>
#include <tenon/device.h>
#include <tenon/error.h>
#include <tenon/module.h>
#include <tenon/prepare.h>

#include "rpc/server/kernel_store.h"

/* import trees are less deep; modules of foreign code may be cyclic */
#define DEEPEST 300

/* A module that was inspected cannot be prepared: load it again, from its bytes. */
static int prepare(struct tenon_module *m, const char *kind, const char *backend)
{
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct tenon_module *loaded = NULL;
	struct tenon_device *device;
	char uri[80];
	int err = tenon_module_save(m, &bytes);

	if (!err)
		err = tenon_module_load_bytes(kind, (struct tenon_slice){ bytes.data, bytes.size },
					      &loaded);
	tenon_buffer_fini(&bytes);
	if (err)
		return err;
	snprintf(uri, sizeof(uri), "%s:0", backend);
	err = tenon_device_open(uri, &device);
	if (!err)
		err = tenon_module_prepare(loaded, device, NULL);
	tenon_object_unref(loaded);
	return err;
}

static void build_tree(struct tenon_module *m, unsigned int depth)
{
	struct tenon_slice kind = tenon_module_kind(m);
	const struct tenon_backend *b = tenon_backend_of_kind(kind);
	char name[40];
	size_t i;

	snprintf(name, sizeof(name), "%.*s", (int)kind.size, kind.data);
	/* ignore the failure: a session reports it when it compiles the kernel itself */
	if (b && tenon_backend_device_type(b) != kDLCPU && prepare(m, name, tenon_backend_name(b)))
		tenon_error_clear();
	for (i = 0; depth < DEEPEST && i < tenon_module_import_count(m); i++)
		build_tree(tenon_module_import_at(m, i), depth + 1);
}

void kernel_store_build(const char *cache, const char *hash)
{
	char path[PATH_MAX + SHA256_TEXT + 1];
	struct tenon_module *root;

	snprintf(path, sizeof(path), "%s/%s", cache, hash);
	if (tenon_module_inspect(path, &root)) {
		tenon_error_clear();
		return;
	}
	build_tree(root, 0);
	tenon_object_unref(root);
}
