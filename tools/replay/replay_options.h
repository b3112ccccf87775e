/* SPDX-License-Identifier: MIT */
/* The options of tenon replay. */
#ifndef TOOLS_REPLAY_REPLAY_OPTIONS_H
#define TOOLS_REPLAY_REPLAY_OPTIONS_H

#include "tools/replay/replay_target.h"
#include "tools/tensor/compare.h"

/**
 * struct replay_options - options of `tenon replay`
 * @folder: the record
 * @targets: the device of --device, or those of --compare
 * @target_count: 1 or 2
 * @tolerance: --rtol and --atol
 * @timeout: seconds; 0 for none
 * @json: print JSON
 */
struct replay_options {
	const char *folder;
	struct replay_target targets[2];
	size_t target_count;
	struct tolerance tolerance;
	double timeout;
	bool json;
};

/** replay_read_options - 0; CLI_OPTIONS_DONE; or an exit code, its message printed */
int replay_read_options(struct cli *cli, int argc, char **argv, struct replay_options *o);

#endif /* TOOLS_REPLAY_REPLAY_OPTIONS_H */
