/* SPDX-License-Identifier: MIT */
/* Complete the function tables of backends that were built with older headers. */
#ifndef RUNTIME_DEVICE_DEVICE_TABLES_H
#define RUNTIME_DEVICE_DEVICE_TABLES_H

#include <tenon/backend/backend.h>

struct device_tables;

/*
 * Extend short tables to the current size; missing slots are NULL. @ops: the backend's table,
 * replaced if any table is short. @made: receives the new tables, to free() with the device, or
 * NULL. Return: 0; -TENON_E_USAGE for tables below the minimum size; -TENON_E_NOMEM.
 */
int device_tables_complete(const struct tenon_device_ops **ops, struct device_tables **made);

#endif /* RUNTIME_DEVICE_DEVICE_TABLES_H */
