/* SPDX-License-Identifier: MIT */
/* What tools can read from the file of an image. */
#include "firmware/core/mortise.h"

extern const struct mortise_image mortise_image;

#if defined(__arm__)
#define MACHINE MORTISE_MACHINE_ARM
#elif defined(__hexagon__)
#define MACHINE MORTISE_MACHINE_HEXAGON
#else
#define MACHINE MORTISE_MACHINE_RISCV
#endif

__attribute__((section(".image"), used, aligned(8)))
const struct mortise_image mortise_image = { MORTISE_IMAGE_WORD, MORTISE_ABI, MACHINE,
					     8 * sizeof(void *), MORTISE_VERSION };
