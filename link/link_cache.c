/* SPDX-License-Identifier: MIT */
/* The module of an archive, which is compiled once and kept in the cache of compiled kernels. */
#include <stdlib.h>

#include "lib/disk_cache.h"
#include "lib/file_map.h"
#include "link/link_request.h"

#define CACHE_KIND "mlf"

static struct tenon_slice variable(const char *name)
{
	const char *value = getenv(name);

	return tenon_slice_of(value ? value : "");
}

/* What the module depends on. A compiler that was updated keeps its name, and its modules stay valid. */
static void make_key(struct tenon_slice archive, struct disk_cache_key *key)
{
	const struct tenon_slice parts[] = { tenon_slice_of(TENON_VERSION_TEXT), archive,
					     variable("CC"), variable("CFLAGS"),
					     variable("LDFLAGS") };

	disk_cache_key(parts, sizeof(parts) / sizeof(parts[0]), key);
}

static int link_into(const struct link_request *r, struct tenon_slice archive,
		     const struct disk_cache_key *key)
{
	struct tenon_slice module;
	int err;

	err = link_of_archive(r, archive);
	if (!err)
		err = file_map_open(r->output, &module);
	if (err)
		return err;
	disk_cache_put(CACHE_KIND, key, module);
	file_map_close(&module);
	return 0;
}

int link_cached_archive(const struct link_request *r, const char *folder)
{
	struct tenon_buffer cached = TENON_BUFFER_INIT;
	struct tenon_slice archive;
	struct disk_cache_key key;
	int err;

	err = file_map_open(r->inputs[0].path, &archive);
	if (err)
		return err;
	make_key(archive, &key);
	if (disk_cache_get(CACHE_KIND, &key, &cached))
		err = link_folder_write(folder, LINK_MADE_NAME,
					(struct tenon_slice){ cached.data, cached.size });
	else
		err = link_into(r, archive, &key);
	tenon_buffer_fini(&cached);
	file_map_close(&archive);
	return err;
}
