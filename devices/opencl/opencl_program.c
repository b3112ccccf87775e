/* SPDX-License-Identifier: MIT */
/* Build programs of source, SPIR-V or binaries, and keep binaries in the disk cache. */
#include <stdlib.h>
#include <string.h>

#include <tenon/commands.h>
#include <tenon/string.h>

#include "devices/opencl/opencl_device.h"
#include "lib/disk_cache.h"

#define SPIRV_MAGIC "\x03\x02\x23\x07"

typedef ocl_program (*of_il_fn)(ocl_context, const void *, size_t, int *);

bool opencl_is_spirv(struct tenon_slice code)
{
	return code.size >= 20 && !memcmp(code.data, SPIRV_MAGIC, 4);
}

static int build_failed(struct opencl_device *d, ocl_program program, const char *name, int status)
{
	char *log = NULL, *end;
	size_t size = 0;
	int err;

	if (!ocl.GetProgramBuildInfo(program, d->device, OCL_PROGRAM_BUILD_LOG, 0, NULL, &size))
		log = calloc(1, size + 1);
	if (!log ||
	    ocl.GetProgramBuildInfo(program, d->device, OCL_PROGRAM_BUILD_LOG, size, log, NULL))
		size = 0;
	for (end = log + size; end > log && (!end[-1] || end[-1] == '\n'); end--)
		end[-1] = '\0';
	if (size && *log)
		err = opencl_error(d, -TENON_E_DEVICE, "kernel %s does not compile:\n%s", name,
				   log);
	else
		err = opencl_failed(d, status, "compiling kernel %s", name);
	free(log);
	return err;
}

/* Build a created program, or raise @status if @program is NULL. Releases @program on failure. */
static int build(struct opencl_device *d, ocl_program *program, int status, const char *options,
		 const char *name)
{
	int err;

	if (!*program)
		return opencl_failed(d, status,
				     status == OCL_INVALID_BINARY
					     ? "loading %s: a binary for another device?"
					     : "loading %s",
				     name);
	status = ocl.BuildProgram(*program, 1, &d->device, options, NULL, NULL);
	if (!status)
		return 0;
	err = build_failed(d, *program, name, status);
	ocl.ReleaseProgram(*program);
	*program = NULL;
	return err;
}

int opencl_program_of_binary(struct opencl_device *d, struct tenon_slice bytes, const char *label,
			     ocl_program *out)
{
	const unsigned char *data = (const unsigned char *)bytes.data;
	int status = 0, binary = 0;

	*out = ocl.CreateProgramWithBinary(d->context, 1, &d->device, &bytes.size, &data, &binary,
					   &status);
	if (*out && binary) {
		ocl.ReleaseProgram(*out);
		*out = NULL;
		status = binary;
	}
	return build(d, out, status, NULL, label);
}

static void cache_key(struct opencl_device *d, struct tenon_slice text, struct disk_cache_key *key)
{
	const struct tenon_device_properties *p = d->base.properties;
	const struct tenon_slice parts[] = { text, tenon_slice_of(d->options ? d->options : ""),
					     tenon_slice_of(p->name), tenon_slice_of(p->driver),
					     tenon_slice_of(p->compute_version) };

	disk_cache_key(parts, sizeof(parts) / sizeof(parts[0]), key);
}

void opencl_program_keep(struct opencl_device *d, struct tenon_slice text, ocl_program program)
{
	struct disk_cache_key key;
	char *binary = NULL;
	size_t size = 0;

	if (!ocl.GetProgramInfo(program, OCL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL) &&
	    size)
		binary = malloc(size);
	cache_key(d, text, &key);
	if (binary &&
	    !ocl.GetProgramInfo(program, OCL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL))
		disk_cache_put("opencl", &key, (struct tenon_slice){ binary, size });
	free(binary);
}

/* Find clCreateProgramWithIL(); NULL if the device, not only the loader, lacks SPIR-V support. */
static of_il_fn il_function(struct opencl_device *d)
{
	char *il = opencl_answer(d->device, OCL_DEVICE_IL_VERSION, NULL);
	of_il_fn function = NULL;

	if (il && strstr(il, "SPIR-V")) {
		if (d->version >= 210)
			function = ocl.CreateProgramWithIL;
		else if (ocl.GetExtensionFunctionAddressForPlatform)
			*(void **)&function = ocl.GetExtensionFunctionAddressForPlatform(
				d->platform, "clCreateProgramWithILKHR");
	}
	free(il);
	return function;
}

static bool from_cache(struct opencl_device *d, struct tenon_slice text, const char *name,
		       ocl_program *out)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct disk_cache_key key;

	cache_key(d, text, &key);
	*out = NULL;
	/* if the driver rejects the binary, the caller compiles the source */
	if (disk_cache_get("opencl", &key, &b) &&
	    opencl_program_of_binary(d, (struct tenon_slice){ b.data, b.size }, name, out))
		tenon_error_clear();
	tenon_buffer_fini(&b);
	return *out != NULL;
}

int opencl_program_of_text(struct opencl_device *d, struct tenon_slice text, const char *name,
			   ocl_program *out, bool *fresh)
{
	of_il_fn of_il;
	int status = 0;

	*fresh = false;
	if (from_cache(d, text, name, out))
		return 0;
	*fresh = true;
	if (!opencl_is_spirv(text)) {
		*out = ocl.CreateProgramWithSource(d->context, 1, &text.data, &text.size, &status);
	} else {
		of_il = il_function(d);
		if (!of_il)
			return opencl_error(d, -TENON_E_UNSUPPORTED,
					    "kernel %s is SPIR-V, which this driver does not "
					    "take; compile the module for OpenCL source",
					    name);
		*out = of_il(d->context, text.data, text.size, &status);
	}
	return build(d, out, status, d->options, name);
}
