/* SPDX-License-Identifier: MIT */
/* The device object: create it, mark it as lost, visit its queues, read its properties. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_tables.h"

uint32_t device_forks;

static const char *const object_keys[DEVICE_OBJECT_COUNT] = {
	"tenon.Device",	    "tenon.Memory",  "tenon.Queue",   "tenon.Timeline",	   "tenon.Commands",
	"tenon.Executable", "tenon.Program", "tenon.WaitSet", "tenon.Preparation",
};

int32_t device_object_types[DEVICE_OBJECT_COUNT];

int32_t device_object_type(enum device_object which)
{
	int32_t type = device_object_known(which);

	if (type)
		return type;
	if (tenon_type_register(object_keys[which], TENON_TYPE_OBJECT, &type)) {
		tenon_error_clear();
		return TENON_TYPE_OBJECT;
	}
	__atomic_store_n(&device_object_types[which], type, __ATOMIC_RELAXED);
	return type;
}

const char *device_label(const struct tenon_device *device, char label[DEVICE_LABEL])
{
	snprintf(label, DEVICE_LABEL, "%s:%d", device->backend->name, device->id.device_id);
	return label;
}

char *device_reason(void)
{
	return strdup(tenon_error_message());
}

static void core_end(struct tenon_device_core *core)
{
	pthread_mutex_destroy(&core->lock);
	free(core->reason);
	free(core->query);
	free(core->place);
}

/* Free the properties and tables; ops->close() still uses them. */
static void core_free(struct tenon_device_core *core)
{
	free(core->tables);
	free(core);
}

static void device_delete(void *self, int flags)
{
	struct tenon_device *device = self;
	struct tenon_device_core *core = device->core;

	if (!(flags & TENON_DELETE_MEMORY) || device_is_parents(device))
		return;
	device_reap_all(device);
	core_end(core);
	device->core = NULL;
	device->ops->close(device);
	core_free(core);
}

int tenon_device_init(struct tenon_device *device, const struct tenon_device_ops *ops,
		      const struct tenon_backend *backend, uint32_t index)
{
	struct tenon_device_core *core;
	int err;

	core = calloc(1, sizeof(*core));
	if (!core)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = device_tables_complete(&ops, &core->tables);
	if (err) {
		free(core);
		return tenon_error_in(err, "backend \"%s\"", backend->name);
	}
	pthread_mutex_init(&core->lock, NULL);
	core->forks = __atomic_load_n(&device_forks, __ATOMIC_RELAXED);
	tenon_object_init(&device->object, device_object_type(DEVICE_OBJECT_DEVICE), device_delete);
	device->ops = ops;
	device->backend = backend;
	device->properties = &core->properties;
	device->properties->size = sizeof(core->properties);
	device->properties->drm_render = -1;
	memset(device->properties->pci, 0xff, sizeof(device->properties->pci));
	device->index = index;
	device->id.device_type = backend->device_type;
	device->id.device_id = (int32_t)index;
	device->slot = 0;
	device->lost = 0;
	device->core = core;
	return 0;
}

void tenon_device_fini(struct tenon_device *device)
{
	struct tenon_device_core *core = device->core;

	core_end(core);
	core_free(core);
	device->core = NULL;
}

static int raise_lost(struct tenon_device *device)
{
	const uint32_t lost = __atomic_load_n(&device->lost, __ATOMIC_ACQUIRE);
	char label[DEVICE_LABEL];
	const char *reason;

	if (lost == DEVICE_FORKED)
		return tenon_error(-TENON_E_LOST,
				   "%s was opened by the parent process; open devices after fork()",
				   device_label(device, label));
	reason = __atomic_load_n(&device->core->reason, __ATOMIC_ACQUIRE);
	return tenon_error(-TENON_E_LOST, "%s is lost: %s%s", device_label(device, label),
			   reason ? reason : "no memory for the reason",
			   lost == DEVICE_ENDED ? "" : ". Reopen it");
}

int tenon_device_lose(struct tenon_device *device, int status)
{
	char *reason, *none = NULL;

	if (!device_is_lost(device)) {
		reason = device_reason();
		/* do not lock: backends may call this with locks held */
		if (reason &&
		    !__atomic_compare_exchange_n(&device->core->reason, &none, reason, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			free(reason);
		__atomic_store_n(&device->lost,
				 status == -TENON_E_UNSUPPORTED ? DEVICE_ENDED : DEVICE_LOST,
				 __ATOMIC_RELEASE);
	}
	return raise_lost(device);
}

int tenon_device_check(struct tenon_device *device)
{
	return device_is_lost(device) ? raise_lost(device) : 0;
}

int device_queues(struct tenon_device *device, struct queue_list *out)
{
	struct tenon_queue_core *q;
	size_t n = 0;

	device_lock(device);
	for (q = device->core->queues; q; q = q->next)
		n++;
	out->queues = out->few;
	if (n > sizeof(out->few) / sizeof(*out->few))
		out->queues = malloc(n * sizeof(struct tenon_queue *));
	out->count = 0;
	/* skip queues that are being destroyed: they are empty */
	for (q = device->core->queues; out->queues && q; q = q->next) {
		tenon_object_ref_weak(q->queue);
		if (tenon_object_promote(q->queue))
			out->queues[out->count++] = q->queue;
		tenon_object_unref_weak(q->queue);
	}
	device_unlock(device);
	return out->queues ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a list of queues");
}

void device_queues_free(struct queue_list *list)
{
	while (list->count--)
		tenon_object_unref(list->queues[list->count]);
	if (list->queues != list->few)
		free(list->queues);
}

const struct tenon_device_properties *tenon_device_properties(const struct tenon_device *device)
{
	return device->properties;
}

DLDevice tenon_device_id(const struct tenon_device *device)
{
	return device->id;
}
