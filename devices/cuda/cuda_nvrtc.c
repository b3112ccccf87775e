/* SPDX-License-Identifier: MIT */
/* Compile CUDA source by NVRTC, or take the result from the disk cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "devices/cuda/cuda_device.h"
#include "driver/cuda/nvrtc_api.h"
#include "lib/brief_errors.h"
#include "lib/disk_cache.h"

#define OPTIONS_MOST 4
#define OPTION_SIZE  512

struct options {
	char text[OPTIONS_MOST][OPTION_SIZE];
	const char *list[OPTIONS_MOST];
	int count;
};

static void add(struct options *o, const char *front, const char *value)
{
	snprintf(o->text[o->count], OPTION_SIZE, "%s%s", front, value);
	o->list[o->count] = o->text[o->count];
	o->count++;
}

static void add_folder(struct options *o, const char *home, const char *folder)
{
	char path[OPTION_SIZE - 32];

	snprintf(path, sizeof(path), "%s%s", home, folder);
	if (!access(path, R_OK))
		add(o, "--include-path=", path);
}

/* TVM's source includes headers of the toolkit: cuda_fp16.h and cuda/std, which was moved. */
static void add_headers(struct options *o)
{
	const char *home = secure_getenv("CUDA_HOME");

	if (!home || !*home)
		home = secure_getenv("CUDA_PATH");
	if (!home || !*home)
		home = access("/usr/local/cuda/include", R_OK) ? "/usr" : "/usr/local/cuda";
	add_folder(o, home, "/include");
	add_folder(o, home, "/include/cccl");
}

/*
 * From 9.0 on, only the suffix "a" enables all instructions of the GPU. A compiler that does not
 * know the GPU makes PTX for an older one, which the driver compiles.
 */
static int architectures(const struct cuda_device *d, char out[4][24])
{
	const char *sm = d->base.properties->architecture + 3;
	int n = 0;

	if (strlen(sm) > 2 || *sm >= '9')
		snprintf(out[n++], 24, "sm_%.8sa", sm);
	snprintf(out[n++], 24, "sm_%.8s", sm);
	snprintf(out[n++], 24, "compute_%.8s", sm);
	snprintf(out[n++], 24, "compute_%s", strlen(sm) > 2 || *sm >= '8' ? "80" : "52");
	return n;
}

static int compile_failed(struct cuda_device *d, const struct nvrtc_api *n, nvrtc_program program,
			  int status)
{
	size_t size = 0;
	char *log = NULL;
	int err;

	if (!n->GetProgramLogSize(program, &size) && size)
		log = calloc(1, size + 1);
	if (log && n->GetProgramLog(program, log))
		*log = '\0';
	err = cuda_error(d, -TENON_E_DEVICE, "CUDA source does not compile (NVRTC error %d)%s%s%s",
			 status, log && *log ? ":\n" : "", log ? log : "",
			 log && strstr(log, "cannot open source file")
				 ? "Headers of the toolkit are looked for in $CUDA_HOME/include"
				 : "");
	free(log);
	return err;
}

static int take_code(struct cuda_device *d, const struct nvrtc_api *n, nvrtc_program program,
		     bool binary, struct tenon_buffer *out)
{
	size_t size = 0;
	char *code = NULL;
	int status, err;

	status = binary ? n->GetCUBINSize(program, &size) : n->GetPTXSize(program, &size);
	if (!status && size)
		code = malloc(size);
	if (code)
		status = binary ? n->GetCUBIN(program, code) : n->GetPTX(program, code);
	if (!code || status) {
		free(code);
		return cuda_error(d, -TENON_E_DEVICE, "NVRTC gives no code (error %d)", status);
	}
	err = tenon_buffer_append(out, code, size);
	free(code);
	return err;
}

/* Compile for the first architecture that the compiler knows. */
static int compile(struct cuda_device *d, const struct nvrtc_api *n, const char *source,
		   struct tenon_buffer *out)
{
	char wanted[4][24];
	nvrtc_program program = NULL;
	int i, count = architectures(d, wanted), status = 0, err = 0;
	bool binary = false;

	for (i = 0; i < count; i++) {
		struct options o = { .count = 0 };

		binary = *wanted[i] == 's';
		if (binary && (!n->GetCUBIN || !n->GetCUBINSize))
			continue;
		add(&o, "--gpu-architecture=", wanted[i]);
		add_headers(&o);
		status = n->CreateProgram(&program, source, "module.cu", 0, NULL, NULL);
		if (status)
			return cuda_error(d, -TENON_E_DEVICE, "NVRTC does not start (error %d)",
					  status);
		status = n->CompileProgram(program, o.count, o.list);
		if (status != NVRTC_INVALID_OPTION || i == count - 1)
			break;
		n->DestroyProgram(&program);
	}
	err = status ? compile_failed(d, n, program, status)
		     : take_code(d, n, program, binary, out);
	n->DestroyProgram(&program);
	return err;
}

static void cache_key(const struct cuda_device *d, const struct nvrtc_api *n,
		      struct tenon_slice source, struct disk_cache_key *key)
{
	const char *architecture = d->base.properties->architecture;
	int version[2] = { 0, 0 };
	const struct tenon_slice parts[] = { source,
					     { architecture, strlen(architecture) },
					     { (const char *)version, sizeof(version) } };

	n->Version(&version[0], &version[1]);
	disk_cache_key(parts, 3, key);
}

int cuda_compile(struct cuda_device *d, const struct tenon_program *program,
		 struct tenon_buffer *out)
{
	const struct nvrtc_api *n;
	struct disk_cache_key key;
	char *source;
	int err;

	err = nvrtc_library(&n);
	if (err)
		return err;
	cache_key(d, n, program->code, &key);
	if (disk_cache_get("cuda", &key, out))
		return 0;
	source = strndup(program->code.data, program->code.size);
	if (!source)
		return tenon_error(-TENON_E_NOMEM, "no memory for source");
	out->size = 0;
	err = compile(d, n, source, out);
	free(source);
	if (!err)
		disk_cache_put("cuda", &key, (struct tenon_slice){ (char *)out->data, out->size });
	return err;
}
