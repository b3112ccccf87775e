/* SPDX-License-Identifier: MIT */
/* Check the function tables of a backend and extend older, shorter ones. */
#include "runtime/device/device_tables.h"

#include "lib/brief_errors.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

struct device_tables {
	struct tenon_device_ops device;
	struct tenon_memory_ops memory;
	struct tenon_queue_ops queue;
	struct tenon_commands_ops commands;
	struct tenon_executable_ops executable;
};

/* size of each table when the ABI got its number: the minimum */
#define UP_TO(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define DEVICE_LEAST	  UP_TO(tenon_device_ops, executable)
#define MEMORY_LEAST	  UP_TO(tenon_memory_ops, export_handle)
#define QUEUE_LEAST	  UP_TO(tenon_queue_ops, reserved)
#define COMMANDS_LEAST	  sizeof(struct tenon_commands_ops)
#define EXECUTABLE_LEAST  UP_TO(tenon_executable_ops, kernel)

static int check(const char *table, size_t size, size_t least)
{
	if (size >= least)
		return 0;
	return tenon_error(-TENON_E_USAGE,
			   "its %s table has %zu bytes, want at least %zu. Rebuild it", table, size,
			   least);
}

static int check_all(const struct tenon_device_ops *ops)
{
	int err;

	err = check("device", ops->size, DEVICE_LEAST);
	if (!err)
		err = check("memory", ops->memory->size, MEMORY_LEAST);
	if (!err)
		err = check("queue", ops->queue->size, QUEUE_LEAST);
	if (!err && ops->commands)
		err = check("commands", ops->commands->size, COMMANDS_LEAST);
	if (!err && ops->executable)
		err = check("executable", ops->executable->size, EXECUTABLE_LEAST);
	return err;
}

static bool long_enough(const struct tenon_device_ops *ops)
{
	return ops->size >= sizeof(*ops) && ops->memory->size >= sizeof(*ops->memory) &&
	       ops->queue->size >= sizeof(*ops->queue) &&
	       (!ops->commands || ops->commands->size >= sizeof(*ops->commands)) &&
	       (!ops->executable || ops->executable->size >= sizeof(*ops->executable));
}

/* @to is zeroed; each table begins with its size */
static void copy(void *to, const void *from, size_t room)
{
	size_t size = *(const size_t *)from;

	memcpy(to, from, size < room ? size : room);
	*(size_t *)to = room;
}

int device_tables_complete(const struct tenon_device_ops **ops, struct device_tables **made)
{
	const struct tenon_device_ops *from = *ops;
	struct device_tables *t;
	int err;

	*made = NULL;
	err = check_all(from);
	if (err || long_enough(from))
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return tenon_error(-TENON_E_NOMEM, "no memory for tables");
	copy(&t->device, from, sizeof(t->device));
	copy(&t->memory, from->memory, sizeof(t->memory));
	copy(&t->queue, from->queue, sizeof(t->queue));
	t->device.memory = &t->memory;
	t->device.queue = &t->queue;
	if (from->commands) {
		copy(&t->commands, from->commands, sizeof(t->commands));
		t->device.commands = &t->commands;
	}
	if (from->executable) {
		copy(&t->executable, from->executable, sizeof(t->executable));
		t->device.executable = &t->executable;
	}
	*ops = &t->device;
	*made = t;
	return 0;
}
