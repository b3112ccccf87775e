/* SPDX-License-Identifier: MIT */
/* Point the library to the fake of Vulkan and to lavapipe, before anything is loaded. */
#include "tests/vulkan/vulkan_environment.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* looked up by the sanitizers */
#define VISIBLE __attribute__((visibility("default")))

/* what drivers and layers keep until the process ends is theirs */
VISIBLE const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libvulkan\nleak:libVkLayer\nleak:libLLVM\nleak:libxcb\nleak:dl_init\n";
}

/* they are no part of what is tested for races */
VISIBLE const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:libvulkan_lvp\nrace:libVkLayer\nrace:libLLVM\n"
	       "called_from_lib:libvulkan_lvp\ncalled_from_lib:libVkLayer_khronos_"
	       "validation\nmutex:libvulkan_lvp\n"
	       "called_from_lib:libLLVM\nmutex:libgcc_s\n";
}

static void pin_lavapipe(void)
{
	glob_t found;

	if (getenv("VK_DRIVER_FILES") || getenv("VK_ICD_FILENAMES"))
		return;
	if (!glob("/usr/share/vulkan/icd.d/lvp_icd*.json", 0, NULL, &found) && found.gl_pathc) {
		setenv("VK_DRIVER_FILES", found.gl_pathv[0], 1);
		setenv("VK_ICD_FILENAMES", found.gl_pathv[0], 1);
	}
	globfree(&found);
}

void vulkan_environment(const char *validate)
{
	char path[4096];

	pin_lavapipe();
	if (!getenv("TENON_CACHE_DIR"))
		setenv("TENON_CACHE_DIR", "", 1);
	if (validate)
		setenv("TENON_FAKE_VULKAN", validate, 0);
	snprintf(path, sizeof(path), "%s/tests/vulkan/fake_vulkan.so", getenv("TENON_BUILD"));
	setenv("TENON_VULKAN_LIBRARY", path, 1);
}
