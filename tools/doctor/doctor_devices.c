/* SPDX-License-Identifier: MIT */
/* Checks of backends, plug-ins, and the kernel's device nodes. */
#include <stdlib.h>
#include <string.h>

#include <tenon/backend/backend.h>
#include <tenon/backend/buffer.h>
#include <tenon/probe.h>

#include "generated/install_paths.h"
#include "runtime/device/backend_choice.h"
#include "tools/devices_verb/devices.h"
#include "tools/doctor/doctor.h"
#include "tools/devices_verb/driver_probe.h"

struct findings {
	struct finding *list;
	size_t count;
	size_t most;
};

static struct finding *next(struct findings *f, const char *name, enum finding_level level)
{
	/* When the list is full, overwrite the last finding. */
	struct finding *one = &f->list[f->count < f->most ? f->count++ : f->most - 1];

	memset(one, 0, sizeof(*one));
	one->name = name;
	one->level = level;
	return one;
}

static void tell_devices(const struct tenon_probe *probe, struct finding *f)
{
	uint32_t count = probe->device_count;
	const struct tenon_device_properties *first = *probe->devices;

	f->level = count && !*probe->reason ? FINDING_OK : FINDING_WARN;
	snprintf(f->text, sizeof(f->text), "%u device%s", count, count == 1 ? "" : "s");
	if (count && *first->name)
		snprintf(f->text, sizeof(f->text), "%u device%s, first %s (%s)", count,
			 count == 1 ? "" : "s", first->name, first->driver);
	/* A backend whose devices are elsewhere lists none. */
	if (!count && !*probe->reason && probe->backend->flags & TENON_BACKEND_PLACES) {
		f->level = FINDING_OK;
		snprintf(f->text, sizeof(f->text), "devices are opened by their place: %s://…",
			 probe->backend->name);
	}
	f->details = probe->doctor;
}

/* How to restrict the loader of several drivers to one of them. */
static const char *choose_one(const char *name)
{
	if (!strcmp(name, "opencl"))
		return ", try one driver at a time (OCL_ICD_VENDORS=NAME.icd)";
	if (!strcmp(name, "vulkan"))
		return ", try one driver at a time (VK_DRIVER_FILES=FILE.json)";
	return "";
}

static void tell_fault(const struct tenon_probe *probe, struct finding *f)
{
	snprintf(f->text, sizeof(f->text), "%s", probe->reason);
	switch (probe->outcome) {
	case TENON_PROBE_LEFT_OUT:
		f->level = FINDING_OK;
		break;
	case TENON_PROBE_FAILED:
		/* The backend is for boards that have the device; this machine has none. */
		snprintf(f->remedy, sizeof(f->remedy),
			 "modules with such payloads do not run; others do");
		break;
	default:
		snprintf(f->remedy, sizeof(f->remedy),
			 "update or remove the driver%s, or leave it out: TENON_BACKENDS=-%s, or "
			 "\"-%s\" in %s",
			 choose_one(probe->backend->name), probe->backend->name,
			 probe->backend->name, TENON_BACKENDS_FILE);
	}
}

static int look_at_backend(void *context, const struct tenon_backend *b)
{
	const struct tenon_probe *probe;
	struct findings *all = context;
	struct finding *f;

	if (!strcmp(b->name, "cpu") || !strcmp(b->name, "null"))
		return 0;
	f = next(all, b->name, FINDING_WARN);
	if (driver_probe(b, &probe)) {
		snprintf(f->text, sizeof(f->text), "%s", tenon_error_message());
		tenon_error_clear();
	} else if (probe->outcome == TENON_PROBE_WORKS) {
		tell_devices(probe, f);
	} else {
		tell_fault(probe, f);
	}
	return 0;
}

/* A finding for each line of @lines, which is freed. */
static void add_lines(struct findings *all, const char *subject, struct tenon_buffer *lines,
		      const char *remedy)
{
	struct finding *f;
	char *line, *save;

	if (lines->size && !tenon_buffer_u8(lines, 0))
		for (line = strtok_r(lines->data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			f = next(all, subject, FINDING_WARN);
			snprintf(f->text, sizeof(f->text), "%s", line);
			snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
		}
	tenon_buffer_fini(lines);
}

static void look_at_choice(struct findings *all)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	backend_choice_problems(&text);
	add_lines(all, "left out", &text,
		  "names with commas between, \"-\" in front of one to leave it out");
}

static void look_at_plugins(struct findings *all)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	tenon_backend_problems(&text);
	add_lines(all, "plug-in", &text, "repair or remove it; the other plug-ins are used");
}

static void look_at_nodes(struct findings *all)
{
	struct device_list *l = malloc(sizeof(*l));
	const char *words;
	struct finding *f;
	char users[128];
	size_t i;

	if (!l) {
		f = next(all, "DRM nodes", FINDING_WARN);
		snprintf(f->text, sizeof(f->text), "no memory for a list of them");
		/* for the exit status */
		tenon_error(-TENON_E_NOMEM, "no memory for a list of devices");
		tenon_error_clear();
		return;
	}
	devices_list(l);
	for (i = 0; i < l->node_count; i++) {
		const struct drm_node *n = &l->nodes[i];

		node_users(l, n, users, sizeof(users));
		f = next(all, n->accel ? "accel node" : "render node",
			 n->error || !*users ? FINDING_WARN : FINDING_OK);
		snprintf(f->text, sizeof(f->text), "%s: %s%s%s%s%s%s%s", n->path,
			 *n->driver ? n->driver : "driver not known", *n->version ? " " : "",
			 n->version, n->error ? ", cannot be opened: " : "",
			 n->error ? strerror(n->error) : "", *users ? ", used by " : "", users);
		node_remedy(n, *users, f->remedy, sizeof(f->remedy));
	}
	if (!l->node_count) {
		f = next(all, "DRM nodes", FINDING_OK);
		snprintf(f->text, sizeof(f->text), "the kernel has no render or accel node");
	} else if (!drm_library_found(&words)) {
		f = next(all, "libdrm", FINDING_WARN);
		snprintf(f->text, sizeof(f->text), "%s", words);
		snprintf(f->remedy, sizeof(f->remedy),
			 "only the versions of kernel drivers are "
			 "missing without it");
	}
	free(l);
}

size_t doctor_devices(struct finding *findings, size_t most)
{
	struct findings all = { findings, 0, most };

	tenon_backend_each(look_at_backend, &all);
	look_at_choice(&all);
	look_at_plugins(&all);
	look_at_nodes(&all);
	return all.count;
}
