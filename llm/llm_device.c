/* SPDX-License-Identifier: MIT */
/* The devices that a library was compiled for, by the modules that it imports. */
#include <stdio.h>
#include <tenon/device.h>

#include "lib/brief_errors.h"
#include "llm/llm_engine.h"

#define VISITS_MOST 4096 /* a module may be imported in many places */

struct devices {
	int32_t wanted;
	bool has_wanted;
	unsigned int visits;
	char names[128];
	size_t size;
	int32_t last; /* type of the last one in @names */
};

/* Kernels of these are called with memory of the device; those of NPUs may be called on the processor. */
static bool has_its_own_memory(int32_t type)
{
	return type == kDLCUDA || type == kDLOpenCL || type == kDLVulkan || type == kDLMetal ||
	       type == kDLROCM;
}

static void note(struct devices *d, struct tenon_module *m)
{
	const struct tenon_backend *b = tenon_backend_of_kind(tenon_module_kind(m));
	const int32_t type = b ? tenon_backend_device_type(b) : kDLCPU;
	int n;

	if (type == d->wanted)
		d->has_wanted = true;
	if (!has_its_own_memory(type) || type == d->last)
		return;
	d->last = type;
	n = snprintf(d->names + d->size, sizeof(d->names) - d->size, "%s%s", d->size ? " and " : "",
		     tenon_backend_name(b));
	if (n > 0 && (size_t)n < sizeof(d->names) - d->size)
		d->size += (size_t)n;
}

static void visit(struct devices *d, struct tenon_module *m)
{
	size_t i;

	if (d->visits++ == VISITS_MOST)
		d->has_wanted = true; /* too many to tell */
	if (d->visits > VISITS_MOST)
		return;
	note(d, m);
	for (i = 0; i < tenon_module_import_count(m); i++)
		visit(d, tenon_module_import_at(m, i));
}

int llm_check_device(struct tenon_module *root, DLDevice device)
{
	struct devices d = { .wanted = device.device_type };
	const struct tenon_backend *b = tenon_backend_of_type(device.device_type);
	const char *name = b ? tenon_backend_name(b) : "this device";

	visit(&d, root);
	if (device.device_type == kDLCPU) {
		if (!d.size)
			return 0;
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the library was compiled for %s, and is opened on the "
				   "processor; name the device (--device %s), or compile the model "
				   "for the processor",
				   d.names, d.names);
	}
	if (d.has_wanted)
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "the library was compiled for %s, and has no kernels for %s; open it "
			   "on %s, or compile the model for %s",
			   d.size ? d.names : "the processor", name,
			   d.size ? d.names : "the processor (without --device)", name);
}
