/* SPDX-License-Identifier: MIT */
/* tenon verify --kind: check a device's program, or those of a model's operators, by their format. */
#ifndef TOOLS_VERIFY_VERIFY_PROGRAM_H
#define TOOLS_VERIFY_VERIFY_PROGRAM_H

#include <tenon/backend/payload_format.h>

#include "tools/cli/cli.h"

/* most options of a check; a device has as many regions, and a target */
#define VERIFY_OPTIONS 32

/**
 * struct verify_program - what to check
 * @path: the file
 * @kind: kind of its programs
 * @options: for the format of that kind
 * @option_count: number of options
 * @json: print JSON
 */
struct verify_program {
	const char *path;
	const char *kind;
	struct tenon_payload_option options[VERIFY_OPTIONS];
	size_t option_count;
	bool json;
};

/** verify_program - check a file; returns an exit code, its message printed */
int verify_program(struct cli *cli, const struct verify_program *v);

#endif /* TOOLS_VERIFY_VERIFY_PROGRAM_H */
