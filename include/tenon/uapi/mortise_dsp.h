/* SPDX-License-Identifier: MIT */
/**
 * DOC: mortise on a DSP, as a library that FastRPC loads
 *
 * The host maps a buffer on the DSP and calls one method of the library with its address. The buffer holds the window of
 * <tenon/uapi/mortise.h> and, behind it, a word by which the host ends the firmware. The method returns when that word is
 * not 0, or the firmware was shut down.
 */
#ifndef TENON_UAPI_MORTISE_DSP_H
#define TENON_UAPI_MORTISE_DSP_H

#include <stdint.h>

/* the library, as the DSP's loader takes its name: the file, and the function that takes all calls */
#define MORTISE_DSP_FILE    "libmortise_skel.so"
#define MORTISE_DSP_LIBRARY "file:///" MORTISE_DSP_FILE "?mortise_skel_invoke&_modver=1.0"

/* bytes of the window */
#define MORTISE_DSP_WINDOW 0x1000000U

/* the method: reads one struct mortise_dsp_run, writes nothing */
#define MORTISE_DSP_RUN 0

/**
 * struct mortise_dsp_run - where the window is
 * @address: the DSP's
 * @size: bytes
 */
struct mortise_dsp_run {
	uint32_t address;
	uint32_t size;
};

/**
 * struct mortise_dsp_end - what follows the window, in a page of its own
 * @end: the host writes 1: return from the method
 * @reserved: 0
 */
struct mortise_dsp_end {
	uint32_t end;
	uint32_t reserved[1023];
};

#endif /* TENON_UAPI_MORTISE_DSP_H */
