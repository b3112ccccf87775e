/* SPDX-License-Identifier: MIT */
/* The same device with fences of its driver's own, which a fake adds (tests/vulkan/fake_vulkan.h). */
#include <dlfcn.h>
#include <stdlib.h>

#include "tests/cts/vulkan_glsl.h"
#include "tests/vulkan/fake_vulkan.h"

static const char *setup(void)
{
	const char *why = vulkan_glsl_setup();
	void *library = why ? NULL : dlopen(getenv("TENON_VULKAN_LIBRARY"), RTLD_NOW);
	struct fake_vulkan *fake = library ? dlsym(library, "fake_vulkan") : NULL;

	if (fake)
		fake->fences = 1;
	/* the validation layer does not know what the fake's threads signal */
	unsetenv("TENON_FAKE_VULKAN");
	return why || fake ? why : "the fake Vulkan loader does not open";
}

const struct cts_backend cts_backend = {
	.uri = "vulkan:0",
	.kind = "vulkan",
	.format = "vulkan",
	.kernel_code = vulkan_glsl_code,
	.setup = setup,
};
