/* SPDX-License-Identifier: MIT */
/* A device that operations are repeated on, and the module that has their functions for it. */
#ifndef TOOLS_REPLAY_REPLAY_TARGET_H
#define TOOLS_REPLAY_REPLAY_TARGET_H

#include <tenon/device.h>
#include <tenon/module.h>

#include "tools/cli/cli.h"
#include "tools/replay/replay_manifest.h"

/**
 * struct replay_target - a device
 * @name: of --device or --compare
 * @file: module of --module; NULL for that of the record
 * @on: opened; NULL for the processor
 * @id: type and number
 * @module: loaded
 */
struct replay_target {
	const char *name;
	const char *file;
	struct tenon_device *on;
	DLDevice id;
	struct tenon_module *module;
};

/** replay_target_open - open the device and load the module; 0 or an exit code, its message printed */
int replay_target_open(struct cli *cli, const struct replay_manifest *m, struct replay_target *t);

void replay_target_close(struct replay_target *t);

/**
 * replay_target_function - find the function of an operator or kernel
 * @t: the device
 * @op: the operation
 * @out: receives the function with one reference; NULL if the module has none for this device
 *
 * Global functions are not searched: a record could name any.
 *
 * Return: 0; a status.
 */
int replay_target_function(const struct replay_target *t, const struct replay_operation *op,
			   struct tenon_function **out);

#endif /* TOOLS_REPLAY_REPLAY_TARGET_H */
