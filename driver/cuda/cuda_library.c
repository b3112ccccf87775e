/* SPDX-License-Identifier: MIT */
/* Open CUDA's driver on first use, fill the table of functions and initialise it. */
#include <string.h>

#include "driver/cuda/cuda_api.h"
#include "lib/vendor_library.h"

#define REMEDY                                                                                     \
	"It comes with NVIDIA's driver (Debian: apt install nvidia-driver libcuda1; in a "         \
	"container: give it the GPU with nvidia-container-toolkit)"

/* one string, to need no relocations: flag "optional" and symbol, in the order of the table */
static const char names_of[] =
#define SYMBOL(optional, name, symbol, parameters) #optional symbol "\0"
	CUDA_FUNCTIONS(SYMBOL)
#undef SYMBOL
	;

#define COUNT(optional, name, symbol, parameters) +1
enum { SYMBOLS = 0 CUDA_FUNCTIONS(COUNT) };
#undef COUNT

static int open_library(const char *const *names, struct cuda_api *api, void **handle)
{
	struct vendor_symbol symbols[SYMBOLS];
	const char *at = names_of;
	size_t i;

	for (i = 0; i < SYMBOLS; i++, at += strlen(at) + 1)
		symbols[i] = (struct vendor_symbol){ at + 1, i * sizeof(api->Init), *at == '1' };
	return vendor_library_open(names, REMEDY, symbols, SYMBOLS, api, handle);
}

/* Use the old symbol of a function where the new one is missing. */
static void settle(struct cuda_api *api)
{
	if (!api->GraphAddKernel2)
		api->GraphAddKernel2 = api->GraphAddKernel1;
	if (!api->GraphSetKernel2)
		api->GraphSetKernel2 = api->GraphSetKernel1;
	api->graphs = api->GraphCreate && api->GraphDestroy && api->GraphAddKernel2 &&
		      api->GraphAddCopy && api->GraphAddFill && api->GraphAddEmpty &&
		      (api->GraphInstantiate3 || api->GraphInstantiate2) && api->GraphSetKernel2 &&
		      api->GraphSetCopy && api->GraphSetFill && api->GraphLaunch &&
		      api->GraphExecDestroy;
}

int cuda_library(const struct cuda_api **out)
{
	static struct cuda_api api;
	static void *handle;
	const char *own = vendor_library_named("TENON_CUDA_LIBRARY");
	const char *const names[] = { own ? own : "libcuda.so.1", NULL };
	int err;

	if (!handle) {
		err = open_library(names, &api, &handle);
		if (err)
			return err;
		settle(&api);
	}
	*out = &api;
	return 0;
}
