/* SPDX-License-Identifier: MIT */
/* The bytes are device code for mortise. */
#include <stdlib.h>

#include "devices/mortise/mortise_elf.h"
#include "tests/fuzz/fuzz.h"

/* an image may be larger than its file, and has a limit of its own */
const bool fuzz_may_ask_for_memory = true;
const bool fuzz_is_slow = true;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_slice bytes = { (const char *)data, size };
	struct mortise_elf_kernel kernel;
	struct mortise_elf elf;
	uint8_t *image;
	uint32_t i;
	int err = mortise_elf_read(bytes, "device code", &elf);

	for (i = 0; !err && i < elf.entry_count; i++)
		err = mortise_elf_kernel(&elf, i, &kernel);
	/* as large as it says, so that a sanitizer sees a write behind it */
	image = err || elf.size > 1 << 20 ? NULL : malloc(elf.size);
	if (image)
		err = mortise_elf_place(&elf, elf.address + 3 * elf.align, image);
	free(image);
	fuzz_check(err);
	return 0;
}
