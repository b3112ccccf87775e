/* SPDX-License-Identifier: MIT */
/* Collect the kinds of devices of a tree and suggest options. */
#include "tools/device_option/kernel_devices.h"

#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/device.h>

#include "tools/text/text.h"

/* import trees are less deep; modules of foreign code may be cyclic */
#define DEEPEST 300

/**
 * struct kernel_devices - kinds of devices that a module has kernels for
 * @name: their names, as --device has them
 * @runs: whether this build has such devices
 * @count: how many
 */
struct kernel_devices {
	struct tenon_slice name[TARGETS_MOST];
	bool runs[TARGETS_MOST];
	size_t count;
};

static bool has(const struct kernel_devices *d, struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (tenon_slice_equal(d->name[i], name))
			return true;
	return false;
}

static void note_kind(struct kernel_devices *d, struct tenon_slice kind)
{
	const struct tenon_backend *b = tenon_backend_of_kind(kind);
	struct tenon_slice name = b ? tenon_slice_of(tenon_backend_name(b)) : kind;
	DLDevice device = { kDLCPU, 0 };

	/* A kind without a backend here is a device if DLPack has one of that name. */
	if (!b && tenon_device_parse(kind, &device)) {
		tenon_error_clear();
		return;
	}
	if (b)
		device.device_type = (DLDeviceType)tenon_backend_device_type(b);
	if (device.device_type == kDLCPU || d->count == TARGETS_MOST || has(d, name))
		return;
	d->runs[d->count] = b != NULL;
	d->name[d->count++] = name;
}

static void note_tree(struct kernel_devices *d, struct tenon_module *m, unsigned int depth)
{
	size_t i;

	note_kind(d, tenon_module_kind(m));
	for (i = 0; depth < DEEPEST && i < tenon_module_import_count(m); i++)
		note_tree(d, tenon_module_import_at(m, i), depth + 1);
}

static void list(const struct kernel_devices *d, struct tenon_buffer *out)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		tenon_buffer_printf(out, "%s%.*s",
				    !i			? ""
				    : i + 1 == d->count ? " and "
							: ", ",
				    (int)d->name[i].size, d->name[i].data);
}

void kernel_devices_say(struct tenon_module *root, struct tenon_buffer *out)
{
	struct kernel_devices d = { .count = 0 };

	note_tree(&d, root, 0);
	list(&d, out);
}

/* ---- the remedy */

/* The kind of a device, from its URI. */
static struct tenon_slice kind_of(const char *uri)
{
	return (struct tenon_slice){ uri, strcspn(uri, ":?") };
}

static bool is_given(const struct target_list *targets, struct tenon_slice kind)
{
	size_t i;

	for (i = 0; i < targets->count; i++)
		if (tenon_slice_equal(kind_of(targets->name[i]), kind))
			return true;
	return false;
}

/* Find a GPU that was given and has no kernels. NPUs are left out: what they run may be no kernels. */
static const char *find_idle(const struct kernel_devices *d, const struct target_list *targets)
{
	static const char *const gpus[] = { "opencl", "cuda", "vulkan" };
	size_t i, k;

	for (i = 0; i < targets->count; i++)
		for (k = 0; k < sizeof(gpus) / sizeof(gpus[0]); k++)
			if (tenon_slice_equal(kind_of(targets->name[i]), tenon_slice_of(gpus[k])) &&
			    !has(d, tenon_slice_of(gpus[k])))
				return targets->name[i];
	return NULL;
}

/* Append the --device options that are missing. Return how many. */
static size_t list_options(const struct kernel_devices *d, const struct target_list *targets,
			   struct tenon_buffer *out)
{
	size_t i, count = 0;

	for (i = 0; i < d->count; i++)
		if (d->runs[i] && !is_given(targets, d->name[i]))
			tenon_buffer_printf(out, "%s--device %.*s:0", count++ ? " or " : "",
					    (int)d->name[i].size, d->name[i].data);
	return count;
}

static void advise(const char *file, const struct kernel_devices *d,
		   const struct target_list *targets, bool of_device, struct tenon_buffer *out)
{
	const char *idle = find_idle(d, targets);
	struct tenon_buffer options = TENON_BUFFER_INIT;
	size_t missing = list_options(d, targets, &options);

	if (!d->count && idle) {
		tenon_buffer_printf(out,
				    "%s has no kernels for %s; a model that was compiled for the "
				    "processor runs without --device",
				    file, idle);
	} else if (missing) {
		tenon_buffer_printf(out, "%s has kernels for ", file);
		list(d, out);
		if (idle)
			tenon_buffer_printf(out, ", and none for %s", idle);
		tenon_buffer_printf(out, ": %s %s", idle ? "use" : "add", options.data);
	} else if (d->count && of_device && !is_given(targets, tenon_slice_of("cpu"))) {
		tenon_buffer_printf(out, "%s has kernels for ", file);
		list(d, out);
		if (targets->count)
			tenon_buffer_printf(out,
					    ", and other parts of it run on the processor: "
					    "name both, --device cpu --device %s",
					    targets->name[0]);
		else
			tenon_buffer_printf(out, ", and this build has no such device; tenon "
						 "inspect and tenon devices say more");
	}
	tenon_buffer_fini(&options);
}

/* Test whether an error is compiled code's check of the device of an argument, by any TVM. */
static bool is_of_device(const char *message)
{
	return strstr(message, ".device_type") || strstr(message, ".device_id");
}

static void say(struct cli *cli, const char *text)
{
	fputs("tenon: ", cli->err);
	printable_print(text, cli->err);
	fputc('\n', cli->err);
}

int kernel_devices_error(struct cli *cli, const char *file, struct tenon_module *root,
			 const struct target_list *targets, int code)
{
	const bool of_device = is_of_device(tenon_error_message());
	struct tenon_buffer advice = TENON_BUFFER_INIT, error = TENON_BUFFER_INIT;
	struct kernel_devices d = { .count = 0 };

	if (!root)
		return cli_error(cli, code);
	/* Reading the tree overwrites the error. */
	if (!of_device)
		cli_error(cli, code);
	else
		tenon_buffer_printf(&error, "%s", tenon_error_message());
	note_tree(&d, root, 0);
	advise(file, &d, targets, of_device, &advice);
	if (advice.size)
		say(cli, advice.data);
	else if (of_device)
		say(cli, error.data ? error.data : "no memory for a message");
	tenon_error_clear();
	tenon_buffer_fini(&advice);
	tenon_buffer_fini(&error);
	return code;
}
