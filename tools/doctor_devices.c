/* SPDX-License-Identifier: MIT */
/* What doctor says of backends, plug-ins, and the kernel's nodes. */
#include <stdlib.h>
#include <string.h>

#include <tenon/device.h>

#include "tools/devices.h"
#include "tools/doctor.h"

struct findings {
	struct finding *list;
	size_t count;
	size_t most;
};

static struct finding *next(struct findings *f, const char *name, enum finding_level level)
{
	/* what does not fit any more replaces the last */
	struct finding *one = &f->list[f->count < f->most ? f->count++ : f->most - 1];

	memset(one, 0, sizeof(*one));
	one->name = name;
	one->level = level;
	return one;
}

/* a backend's own lines, made one */
static void add_words(const struct tenon_backend *b, struct finding *f)
{
	struct tenon_buffer words = TENON_BUFFER_INIT;
	char *line, *rest = NULL;
	size_t used;

	if (b->doctor && !b->doctor(&words) && !tenon_buffer_u8(&words, 0)) {
		for (line = strtok_r((char *)words.data, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			used = strlen(f->text);
			snprintf(f->text + used, sizeof(f->text) - used, "; %s", line);
		}
	}
	tenon_error_clear();
	tenon_buffer_fini(&words);
}

static int look_at_backend(void *context, const struct tenon_backend *b)
{
	struct findings *all = context;
	struct tenon_device_properties p;
	struct finding *f;
	uint32_t count;

	if (!strcmp(b->name, "cpu") || !strcmp(b->name, "null"))
		return 0;
	if (tenon_backend_count(b, &count)) {
		/* it was built in for boards that have it; here it is not there */
		f = next(all, b->name, FINDING_WARN);
		snprintf(f->text, sizeof(f->text), "%s", tenon_error_message());
		tenon_error_clear();
		snprintf(f->remedy, sizeof(f->remedy),
			 "modules with such payloads do not run; "
			 "others do");
		return 0;
	}
	f = next(all, b->name, count ? FINDING_OK : FINDING_WARN);
	snprintf(f->text, sizeof(f->text), "%u device%s", count, count == 1 ? "" : "s");
	if (count && !tenon_backend_describe(b, 0, &p))
		snprintf(f->text, sizeof(f->text), "%u device%s, first %s (%s)", count,
			 count == 1 ? "" : "s", p.name, p.driver);
	tenon_error_clear();
	add_words(b, f);
	return 0;
}

static void look_at_plugins(struct findings *all)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct finding *f;
	char *line, *save;

	if (!tenon_backend_problems(&text) && text.size && !tenon_buffer_u8(&text, 0)) {
		for (line = strtok_r(text.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			f = next(all, "plug-in", FINDING_WARN);
			snprintf(f->text, sizeof(f->text), "%s", line);
			snprintf(f->remedy, sizeof(f->remedy),
				 "repair that, or take it away; the other plug-ins are used");
		}
	}
	tenon_buffer_fini(&text);
}

#ifdef CONFIG_DRM_NODES
static void look_at_nodes(struct findings *all)
{
	struct device_list *l = malloc(sizeof(*l));
	const char *words;
	struct finding *f;
	char users[128];
	size_t i;

	if (!l) {
		tenon_error(-TENON_E_NOMEM, "no memory for a list of devices");
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
#else
static void look_at_nodes(struct findings *all)
{
	(void)all;
}
#endif

size_t doctor_devices(struct finding *findings, size_t most)
{
	struct findings all = { findings, 0, most };

	tenon_backend_each(look_at_backend, &all);
	look_at_plugins(&all);
	look_at_nodes(&all);
	return all.count;
}
