/* SPDX-License-Identifier: MIT */
/* Files that become a module when they are used: manifests, archives. */
#ifndef TOOLS_LINK_LINK_LOAD_H
#define TOOLS_LINK_LINK_LOAD_H

#include <stdbool.h>
#include <tenon/artifact.h>
#include <tenon/buffer.h>

/* room for the path of a temporary folder */
#define LINK_FOLDER_ROOM 4096

/* name of a module in its temporary folder */
#define LINK_MADE_NAME "module.so"

/**
 * struct link_made - a module in a temporary folder
 * @folder: the folder; "" for none
 * @path: of the module
 */
struct link_made {
	char folder[LINK_FOLDER_ROOM];
	struct tenon_buffer path;
};

#ifdef CONFIG_LINK
/** link_is_manifest - test whether the name of a file ends as that of a manifest does */
bool link_is_manifest(const char *path);

/**
 * link_make - write the module that a manifest or an archive stands for to a temporary folder
 * @path: the manifest or archive
 * @made: freed with link_made_fini(), also on failure
 *
 * The host code of an archive is compiled and linked once: the module is kept in the cache of
 * compiled kernels, under a hash of the archive, the compiler and its flags.
 *
 * Return: 0; errors of linking.
 */
int link_make(const char *path, struct link_made *made);

void link_made_fini(struct link_made *made);

/**
 * link_load_verified - a policy (tenon_load_policy_set()): load shared objects whose payloads have the
 * hashes with which they were linked
 *
 * A library without an import tree has none, and may be loaded.
 *
 * Return: 0; -TENON_E_NOT_FOUND for a module without hashes; -TENON_E_VALUE; errors of link_host_open().
 */
int link_load_verified(void *context, const char *path);

/** link_cached_archive - write the module of an archive to a folder, from the cache if it is there */
int link_cached_archive(const char *path, const char *folder, const char *module);

/**
 * link_load - load a module, the manifest of one, or an archive in Model Library Format
 * @path: the file
 * @targets: @count devices of target keys
 * @count: how many
 * @out: receives the module with one reference
 *
 * Return: as tenon_module_load_for(); errors of link_make().
 */
int link_load(const char *path, const struct tenon_target *targets, size_t count,
	      struct tenon_module **out);
#else
static inline int link_load(const char *path, const struct tenon_target *targets, size_t count,
			    struct tenon_module **out)
{
	return tenon_module_load_for(path, targets, count, out);
}
#endif

#endif /* TOOLS_LINK_LINK_LOAD_H */
