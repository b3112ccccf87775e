/* SPDX-License-Identifier: MIT */
/* The same list as JSON. */
#include <string.h>
#include <tenon/threads.h>

#include "tools/devices_verb/devices.h"
#include "tools/json/json_value.h"

static cJSON *json_of_words(const char *words)
{
	cJSON *list = cJSON_CreateArray();

	while (*words) {
		size_t size = strcspn(words, " ");

		json_append(list, json_of_text((struct tenon_slice){ words, size }));
		words += size + (words[size] == ' ');
	}
	return list;
}

static cJSON *json_of_processor(const struct machine *m)
{
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "device", "cpu:0");
	cJSON_AddStringToObject(item, "machine", m->arch);
	json_set(item, "model", json_of_text(tenon_slice_of(m->model)));
	json_set(item, "threads", json_of_int(tenon_parallel_workers()));
	json_set(item, "memory", json_of_int((int64_t)m->memory));
	json_set(item, "features", json_of_words(m->features));
	return item;
}

static void add_text(cJSON *item, const char *key, const char *text)
{
	if (*text)
		json_set(item, key, json_of_text(tenon_slice_of(text)));
}

static void add_number(cJSON *item, const char *key, uint64_t number)
{
	if (number)
		json_set(item, key, json_of_int((int64_t)number));
}

static cJSON *json_of_device(const struct listed_device *d)
{
	static const char *const classes[] = { "other", "cpu", "gpu", "integrated gpu",
					       "accelerator" };
	const struct tenon_device_properties *p = &d->properties;
	cJSON *item = cJSON_CreateObject();
	struct device_handles h;
	char text[40];
	size_t i;

	snprintf(text, sizeof(text), "%s:%u", d->driver, d->index);
	cJSON_AddStringToObject(item, "device", text);
	add_text(item, "model", p->name);
	add_text(item, "vendor", p->vendor);
	add_text(item, "driver", p->driver);
	add_text(item, "compute_version", p->compute_version);
	add_text(item, "architecture", p->architecture);
	if (p->device_class < sizeof(classes) / sizeof(classes[0]))
		add_text(item, "class", classes[p->device_class]);
	add_number(item, "memory", p->total_memory);
	add_number(item, "processors", p->processors);
	add_number(item, "max_threads", p->max_threads);
	add_number(item, "max_shared", p->max_shared);
	for (i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", p->uuid[i]);
	if (strspn(text, "0") < 32)
		add_text(item, "uuid", text);
	if (p->pci[0] != UINT32_MAX) {
		snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", p->pci[0], p->pci[1], p->pci[2],
			 p->pci[3]);
		add_text(item, "pci", text);
	}
	device_handles(p, &h);
	json_set(item, "memory_imports", json_of_words(h.memory_imports));
	json_set(item, "memory_exports", json_of_words(h.memory_exports));
	json_set(item, "fence_imports", json_of_words(h.fence_imports));
	json_set(item, "fence_exports", json_of_words(h.fence_exports));
	return item;
}

static cJSON *json_of_node(const struct device_list *l, const struct drm_node *n)
{
	cJSON *item = cJSON_CreateObject();
	char users[128], what[256];

	cJSON_AddStringToObject(item, "path", n->path);
	cJSON_AddStringToObject(item, "class", n->accel ? "accel" : "render");
	add_text(item, "driver", n->driver);
	add_text(item, "version", n->version);
	add_text(item, "pci", n->pci);
	add_text(item, "group", n->group);
	cJSON_AddBoolToObject(item, "usable", !n->error);
	if (n->error)
		add_text(item, "error", strerror(n->error));
	node_users(l, n, users, sizeof(users));
	json_set(item, "backends", json_of_words(node_backends(n)));
	add_text(item, "used_by", users);
	node_remedy(n, *users, what, sizeof(what));
	add_text(item, "remedy", what);
	return item;
}

int devices_json(const struct device_list *l, FILE *out)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(json, "devices"), *item;
	size_t i;

	json_append(list, json_of_processor(&l->machine));
	for (i = 0; i < l->device_count; i++)
		json_append(list, json_of_device(&l->devices[i]));
	list = cJSON_AddArrayToObject(json, "absent");
	for (i = 0; i < l->absent_count; i++) {
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "kind", l->absent[i].name);
		if (l->absent[i].outcome)
			cJSON_AddStringToObject(item, "outcome", l->absent[i].outcome);
		json_set(item, "reason", json_of_text(tenon_slice_of(l->absent[i].why)));
		json_append(list, item);
	}
	list = cJSON_AddArrayToObject(json, "nodes");
	for (i = 0; i < l->node_count; i++)
		json_append(list, json_of_node(l, &l->nodes[i]));
	return json_print(json, out);
}
