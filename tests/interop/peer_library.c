/* SPDX-License-Identifier: MIT */
/* Stands for a real libtvm_ffi: it calls its own names through slots that the dynamic linker fills. */
#include <stdint.h>

void TVMFFIGetVersion(uint32_t out[3]);
uint32_t peer_version(void);

void TVMFFIGetVersion(uint32_t out[3])
{
	out[0] = out[1] = out[2] = 4711;
}

uint32_t peer_version(void)
{
	uint32_t version[3];

	TVMFFIGetVersion(version);
	return version[0];
}
