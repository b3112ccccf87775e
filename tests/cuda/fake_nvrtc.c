/* SPDX-License-Identifier: MIT */
/*
 * A named fake of libnvrtc: "source" whose first line is "//ptx" compiles to what is behind that line, all
 * else fails with a log. What it was asked for is in `fake_nvrtc`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../driver/cuda/nvrtc_api.h"
#include "fake_nvrtc.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct fake_nvrtc fake_nvrtc;

struct nvrtc_program_data {
	char *text;
};

EXPORT int nvrtcVersion(int *major, int *minor)
{
	*major = 12;
	*minor = 4;
	return 0;
}

EXPORT int nvrtcCreateProgram(nvrtc_program *out, const char *source, const char *name, int headers,
			      const char *const *texts, const char *const *names)
{
	fake_nvrtc.live++;
	*out = calloc(1, sizeof(**out));
	(*out)->text = strdup(source);
	return 0;
}

EXPORT int nvrtcDestroyProgram(nvrtc_program *p)
{
	fake_nvrtc.live--;
	free((*p)->text);
	free(*p);
	*p = NULL;
	return 0;
}

EXPORT int nvrtcCompileProgram(nvrtc_program p, int count, const char *const *options)
{
	fake_nvrtc.compiles++;
	snprintf(fake_nvrtc.option, sizeof(fake_nvrtc.option), "%s", count ? options[0] : "");
	if (fake_nvrtc.knows && !strstr(options[0], fake_nvrtc.knows))
		return NVRTC_INVALID_OPTION;
	return strncmp(p->text, "//ptx\n", 6) ? NVRTC_COMPILATION : 0;
}

static const char *log_of(nvrtc_program p)
{
	return strncmp(p->text, "//ptx\n", 6)
		       ? "module.cu(1): error: this declaration has no storage class\n"
		       : "";
}

EXPORT int nvrtcGetProgramLogSize(nvrtc_program p, size_t *size)
{
	*size = strlen(log_of(p)) + 1;
	return 0;
}

EXPORT int nvrtcGetProgramLog(nvrtc_program p, char *out)
{
	strcpy(out, log_of(p));
	return 0;
}

EXPORT int nvrtcGetPTXSize(nvrtc_program p, size_t *size)
{
	*size = strlen(p->text) - 6 + 1;
	return 0;
}

EXPORT int nvrtcGetPTX(nvrtc_program p, char *out)
{
	fake_nvrtc.texts++;
	strcpy(out, p->text + 6);
	return 0;
}

/* the fake libcuda takes text for a binary too */
EXPORT int nvrtcGetCUBINSize(nvrtc_program p, size_t *size)
{
	return nvrtcGetPTXSize(p, size);
}

EXPORT int nvrtcGetCUBIN(nvrtc_program p, char *out)
{
	fake_nvrtc.binaries++;
	strcpy(out, p->text + 6);
	return 0;
}
