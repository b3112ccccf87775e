/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_DEVICE_TABLES_H
#define RUNTIME_DEVICE_DEVICE_TABLES_H

/* Tables of functions of backends that were built with shorter headers. */

#include <tenon/backend/backend.h>

struct device_tables;

/*
 * Make tables of today's length of shorter ones: slots that are missing are NULL. @ops comes with the
 * backend's table and is replaced where anything is shorter; then @made receives what to free() with the
 * device, else NULL. Return: 0; -TENON_E_USAGE for tables without the slots that every backend has had;
 * -TENON_E_NOMEM.
 */
int device_tables_complete(const struct tenon_device_ops **ops, struct device_tables **made);

#endif /* RUNTIME_DEVICE_DEVICE_TABLES_H */
