/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_DEVICES_MACHINE_H
#define TOOLS_DEVICES_MACHINE_H

/** DOC: the machine this runs on */

#include <tenon/buffer.h>

/**
 * struct machine - facts about the processor and memory
 * @arch: as uname says: "x86_64", "aarch64"
 * @model: the processor's name, may be empty
 * @features: instruction sets that compilers of modules choose by, separated by spaces
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

/** machine_read - find out; what cannot be found out stays empty */
void machine_read(struct machine *m);

#define SIZE_TEXT 24

/** size_text - write a size with three digits and its unit: "612 KiB", "1.2 MiB" */
const char *size_text(uint64_t bytes, char text[SIZE_TEXT]);

#endif /* TOOLS_DEVICES_MACHINE_H */
