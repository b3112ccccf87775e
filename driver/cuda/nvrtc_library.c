/* SPDX-License-Identifier: MIT */
/* Open NVRTC when the first CUDA source is compiled. */
#include <pthread.h>

#include "driver/cuda/nvrtc_api.h"
#include "lib/vendor_library.h"

#define REMEDY                                                                                     \
	"It compiles CUDA source and comes with the toolkit (Debian: apt install libnvrtc12, or "  \
	"pip install nvidia-cuda-nvrtc-cu12 and set TENON_NVRTC_LIBRARY); modules exported as "    \
	"ptx, cubin or fatbin do without"

static const struct vendor_symbol symbols[] = {
#define SYMBOL(optional, name, parameters)                                                         \
	{ "nvrtc" #name, offsetof(struct nvrtc_api, name), optional },
	NVRTC_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

int nvrtc_library(const struct nvrtc_api **out)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct nvrtc_api api;
	static void *handle;
	const char *own = vendor_library_named("TENON_NVRTC_LIBRARY");
	const char *const usual[] = { "libnvrtc.so.13",	  "libnvrtc.so.12", "libnvrtc.so.11.2",
				      "libnvrtc.so.11.1", "libnvrtc.so",    NULL };
	const char *const names[] = { own, NULL };
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!handle)
		err = vendor_library_open(own ? names : usual, REMEDY, symbols,
					  sizeof(symbols) / sizeof(*symbols), &api, &handle);
	pthread_mutex_unlock(&lock);
	if (!err)
		*out = &api;
	return err;
}
