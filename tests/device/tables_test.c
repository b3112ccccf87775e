/* SPDX-License-Identifier: MIT */
/* Tables of backends that were built with older headers: each may end early, but not before what the first ones had. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

#include "runtime/device/device_tables.h"
#include "tests/unit/suite.h"

/* tables of a backend with all of them, in today's sizes */
struct all {
	struct tenon_device_ops device;
	struct tenon_memory_ops memory;
	struct tenon_queue_ops queue;
	struct tenon_commands_ops commands;
	struct tenon_executable_ops executable;
};

static void close_none(struct tenon_device *device)
{
	(void)device;
}

static void begin(struct all *a)
{
	memset(a, 0, sizeof(*a));
	a->device.size = sizeof(a->device);
	a->memory.size = sizeof(a->memory);
	a->queue.size = sizeof(a->queue);
	a->commands.size = sizeof(a->commands);
	a->executable.size = sizeof(a->executable);
	a->device.close = close_none;
	a->device.memory = &a->memory;
	a->device.queue = &a->queue;
	a->device.commands = &a->commands;
	a->device.executable = &a->executable;
}

/* where each table says how long it is */
static const struct {
	const char *name;
	size_t offset;
} sizes[] = {
	{ "device", offsetof(struct all, device) },
	{ "memory", offsetof(struct all, memory) },
	{ "queue", offsetof(struct all, queue) },
	{ "commands", offsetof(struct all, commands) },
	{ "executable", offsetof(struct all, executable) },
};

#define TABLES (sizeof(sizes) / sizeof(*sizes))

static size_t *size_of(struct all *a, size_t table)
{
	return (size_t *)(void *)((char *)a + sizes[table].offset);
}

static void tables_of_today_are_used_as_they_are(void **state)
{
	const struct tenon_device_ops *ops;
	struct device_tables *made;
	struct all a;

	(void)state;
	begin(&a);
	ops = &a.device;
	assert_int_equal(device_tables_complete(&ops, &made), 0);
	assert_ptr_equal(ops, &a.device);
	assert_null(made);
	a.device.commands = NULL;
	a.device.executable = NULL;
	assert_int_equal(device_tables_complete(&ops, &made), 0);
	assert_ptr_equal(ops, &a.device);
	assert_null(made);
}

static void a_table_that_is_too_short_is_named(void **state)
{
	const struct tenon_device_ops *ops;
	struct device_tables *made;
	char words[64];
	struct all a;
	size_t i;

	(void)state;
	for (i = 0; i < TABLES; i++) {
		begin(&a);
		*size_of(&a, i) = sizeof(size_t);
		ops = &a.device;
		assert_int_equal(device_tables_complete(&ops, &made), -TENON_E_USAGE);
		assert_ptr_equal(ops, &a.device);
		assert_null(made);
		snprintf(words, sizeof(words), "its %s table has %zu bytes", sizes[i].name,
			 sizeof(size_t));
		assert_error_has(words);
	}
	tenon_error_clear();
}

/* Each that has grown since its first version, as long as it was then. */
static void a_table_that_ends_early_gets_slots_without_functions(void **state)
{
	static const struct {
		size_t table, size;
	} rows[] = {
		{ 0, offsetof(struct tenon_device_ops, reset) },
		{ 2, offsetof(struct tenon_queue_ops, export_fence) },
		{ 4, offsetof(struct tenon_executable_ops, argument) },
	};
	const struct tenon_device_ops *ops;
	struct device_tables *made;
	struct all a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(&a);
		*size_of(&a, rows[i].table) = rows[i].size;
		ops = &a.device;
		assert_int_equal(device_tables_complete(&ops, &made), 0);
		assert_non_null(made);
		assert_ptr_not_equal(ops, &a.device);
		assert_int_equal(ops->size, sizeof(*ops));
		assert_int_equal(ops->memory->size, sizeof(*ops->memory));
		assert_int_equal(ops->queue->size, sizeof(*ops->queue));
		assert_int_equal(ops->commands->size, sizeof(*ops->commands));
		assert_int_equal(ops->executable->size, sizeof(*ops->executable));
		assert_ptr_equal(ops->close, close_none);
		assert_null(ops->reset);
		assert_null(ops->queue->export_fence);
		assert_null(ops->executable->argument);
		free(made);
	}
}

static void tables_that_are_optional_stay_away(void **state)
{
	const struct tenon_device_ops *ops;
	struct device_tables *made;
	struct all a;

	(void)state;
	begin(&a);
	a.device.commands = NULL;
	a.device.executable = NULL;
	a.device.size = offsetof(struct tenon_device_ops, reset);
	ops = &a.device;
	assert_int_equal(device_tables_complete(&ops, &made), 0);
	assert_non_null(made);
	assert_null(ops->commands);
	assert_null(ops->executable);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_today_are_used_as_they_are),
		cmocka_unit_test(a_table_that_is_too_short_is_named),
		cmocka_unit_test(a_table_that_ends_early_gets_slots_without_functions),
		cmocka_unit_test(tables_that_are_optional_stay_away),
	};

	return cmocka_run_group_tests_name("tables of backends", tests, NULL, NULL);
}
