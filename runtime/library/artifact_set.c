/* SPDX-License-Identifier: MIT */
/* Load sets of artifacts in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/whole_io.h"
#include "runtime/core/describer.h"
#include "runtime/target/target_module.h"

#define NATIVE "native"

static const char *key_of(const struct tenon_artifact *a)
{
	return a->target_key ? a->target_key : a->loader;
}

/* Order of loading: data that the others need, code of the host, then programs. */
static int step_of(const struct tenon_artifact *a)
{
	static const char *const data[] = { "const_loader", "metadata", "metadata_module" };
	size_t i;

	for (i = 0; i < sizeof(data) / sizeof(data[0]); i++)
		if (!strcmp(a->loader, data[i]))
			return 0;
	return strcmp(a->loader, NATIVE) ? 2 : 1;
}

static int in_order(const void *left, const void *right)
{
	const struct tenon_artifact *a = *(const struct tenon_artifact *const *)left;
	const struct tenon_artifact *b = *(const struct tenon_artifact *const *)right;
	int order = step_of(a) - step_of(b);

	if (!order)
		order = strcmp(a->loader, b->loader);
	if (!order)
		order = strcmp(key_of(a), key_of(b));
	return order ? order : strcmp(a->file_name, b->file_name);
}

/* Code of the host is a shared object; the dynamic linker opens files alone. */
static int load_native(struct tenon_slice content, struct tenon_module **out)
{
	int fd, err;

	fd = memfd_create("tenon-artifact", MFD_CLOEXEC);
	if (fd < 0)
		return tenon_error(-TENON_E_IO, "cannot make a file in memory");
	err = write_whole(fd, content.data, content.size)
		      ? tenon_module_load_fd(fd, out)
		      : tenon_error(-TENON_E_IO, "no memory for a file");
	close(fd);
	return err;
}

static int load_one(const struct tenon_artifact *a, struct tenon_module **out)
{
	int err;

	*out = NULL;
	if (a->load)
		err = a->load(a->context, out);
	else if (!strcmp(a->loader, NATIVE))
		err = load_native(a->content, out);
	else
		err = tenon_module_load_bytes(a->loader, a->content, out);
	return err ? tenon_error_in(err, "%s", a->file_name) : 0;
}

/* Load an artifact, and give it the device of its key. */
static int load_for(const struct tenon_artifact *a, struct target_choice *choice,
		    struct target_set *list, struct tenon_module **out)
{
	const char *device = target_choice_find(choice, tenon_slice_of(key_of(a)));
	int err;

	err = load_one(a, out);
	if (err || !strcmp(a->loader, NATIVE) || (!device && !strcmp(key_of(a), a->loader)))
		return err;
	return target_set_add(list, tenon_slice_of(key_of(a)), tenon_slice_of(device ? device : ""),
			      out);
}

static int load_all(const struct tenon_artifact **order, size_t count, struct target_choice *choice,
		    struct tenon_module **modules)
{
	struct target_set *list;
	size_t i;
	int err;

	err = target_set_create(count, &list);
	if (err)
		return err;
	for (i = 0; i < count && !err; i++)
		err = load_for(order[i], choice, list, &modules[i]);
	target_set_close(list);
	return err;
}

/* Let one module import all others in the order of loading, but for module @except. */
static int import_others(struct tenon_module **modules, size_t count, size_t parent, size_t except)
{
	size_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		if (i != parent && i != except)
			err = tenon_module_import(modules[parent], modules[i]);
	return err;
}

/*
 * The code of the host imports all others. Constants are passed to imports only, so the first
 * module with data is above it.
 */
static int import_all(const struct tenon_artifact **order, struct tenon_module **modules,
		      size_t count, struct tenon_module **out)
{
	const size_t none = count;
	size_t host;
	int err = 0;

	for (host = 0; host < count && strcmp(order[host]->loader, NATIVE); host++)
		;
	if (host != none)
		err = import_others(modules, count, host, host ? 0 : none);
	if (!err && host)
		err = import_others(modules, count, 0, none);
	if (!err) {
		tenon_object_ref(modules[0]);
		*out = modules[0];
	}
	return err;
}

static int check_names(const struct tenon_artifact *items, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++) {
		if (!items[i].loader || !items[i].file_name)
			return tenon_error(-TENON_E_VALUE,
					   "artifact %zu has no loader or no file name", i);
		for (k = 0; k < i; k++)
			if (!strcmp(items[i].file_name, items[k].file_name))
				return tenon_error(-TENON_E_EXISTS,
						   "two artifacts are called \"%s\"",
						   items[i].file_name);
	}
	return count ? 0 : tenon_error(-TENON_E_VALUE, "no artifacts");
}

int describe_artifacts(const struct tenon_artifact *items, size_t count,
		       const struct tenon_target *targets, size_t target_count,
		       struct tenon_module **out)
{
	struct target_choice choice = { .targets = targets, .count = target_count };
	const struct tenon_artifact **order;
	struct tenon_module **modules;
	size_t i;
	int err;

	err = check_names(items, count);
	if (!err && target_count > TARGETS_MOST)
		err = tenon_error(-TENON_E_VALUE, "%zu targets, %d at most", target_count,
				  TARGETS_MOST);
	if (err)
		return err;
	order = calloc(count, sizeof(*order));
	modules = calloc(count, sizeof(struct tenon_module *));
	if (!order || !modules)
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu artifacts", count);
	for (i = 0; i < count && !err; i++)
		order[i] = &items[i];
	if (!err) {
		qsort(order, count, sizeof(*order), in_order);
		err = load_all(order, count, &choice, modules);
	}
	if (!err)
		err = target_choice_check(&choice, "the set");
	if (!err)
		err = import_all(order, modules, count, out);
	for (i = 0; i < count && modules; i++)
		tenon_object_unref(modules[i]);
	free(modules);
	free(order);
	return err;
}
