/* SPDX-License-Identifier: MIT */
/* The processor of this machine, and the features that code generators ask for. */
#ifndef TOOLS_DEVICES_VERB_MACHINE_H
#define TOOLS_DEVICES_VERB_MACHINE_H

#include <tenon/buffer.h>

/**
 * struct machine - facts about the processor and memory
 * @arch: as reported by uname: "x86_64", "aarch64"
 * @model: the processor's name, may be empty
 * @features: instruction sets that module compilers select by, separated by spaces
 * @processors: that this process may use
 * @memory: bytes
 */
struct machine {
	char arch[66];
	char model[96];
	char features[256];
	int processors;
	uint64_t memory;
};

/** machine_read - read the facts; unknown ones stay empty */
void machine_read(struct machine *m);

#endif /* TOOLS_DEVICES_VERB_MACHINE_H */
