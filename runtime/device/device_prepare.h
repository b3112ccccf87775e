/* SPDX-License-Identifier: MIT */
/* Build the kernels of executables on several threads, before they are called. */
#ifndef RUNTIME_DEVICE_DEVICE_PREPARE_H
#define RUNTIME_DEVICE_DEVICE_PREPARE_H

#include <tenon/backend/executable.h>
#include <tenon/prepare.h>

/**
 * preparation_create - make a preparation that has not started
 * @executables: @count executables of one device; referenced
 * @count: how many
 * @how: options; NULL for the defaults
 * @out: receives the preparation with one reference
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int preparation_create(struct tenon_executable *const *executables, size_t count,
		       const struct tenon_prepare *how, struct tenon_preparation **out);

/**
 * preparation_start - start the threads
 * @p: a preparation
 * @helps: the calling thread will call preparation_help(), so start one less
 *
 * Return: 0; -TENON_E_NOMEM if no thread builds.
 */
int preparation_start(struct tenon_preparation *p, bool helps);

/* Build kernels in the calling thread until none is left. */
void preparation_help(struct tenon_preparation *p);

/* Build a kernel ahead of calls. Waits while a call needs any kernel of the executable. */
int executable_prepare(struct tenon_executable *executable, size_t index);

/* Reference an executable for a preparation, and drop that reference. */
void executable_hold(struct tenon_executable *executable);
void executable_release(struct tenon_executable *executable);

/* Whether only preparations reference an executable: its module was released. */
bool executable_is_dropped(const struct tenon_executable *executable);

#endif /* RUNTIME_DEVICE_DEVICE_PREPARE_H */
