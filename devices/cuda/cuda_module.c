/* SPDX-License-Identifier: MIT */
/* Load PTX, cubins and fat binaries as CUDA modules. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "devices/cuda/cuda_device.h"
#include "lib/brief_errors.h"

#define LOG_SIZE 16384

static bool has_format(const struct tenon_program *p, const char *format)
{
	return p->format.size == strlen(format) && !memcmp(p->format.data, format, p->format.size);
}

/* Cut trailing newlines and blanks. */
static char *trim(char *log)
{
	size_t n = strlen(log);

	while (n && (log[n - 1] == '\n' || log[n - 1] == ' '))
		log[--n] = '\0';
	return log;
}

static int load_failed(struct cuda_device *d, const struct tenon_program *p, int status,
		       char *errors, char *infos)
{
	char text[160];

	if (!*trim(errors) && !*trim(infos))
		return cuda_failed(d, status, "loading %.*s of %zu bytes for %s",
				   (int)p->format.size, p->format.data, p->code.size,
				   d->base.properties->architecture);
	/* the log does not mention a lost context or lack of memory */
	if (status == CU_OUT_OF_MEMORY || status >= CU_NOT_READY)
		return cuda_failed(d, status, "loading a program: %.100s", errors);
	return cuda_error(d, -TENON_E_DEVICE, "%.*s does not load for %s: %s:\n%s%s%s",
			  (int)p->format.size, p->format.data, d->base.properties->architecture,
			  cuda_status_text(d->cu, status, text, sizeof(text)), errors,
			  *errors && *infos ? "\n" : "", infos);
}

static int load(struct cuda_device *d, const struct tenon_program *p, const char *code,
		cu_module *out)
{
	int options[] = { CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_SIZE, CU_JIT_ERROR_LOG,
			  CU_JIT_ERROR_LOG_SIZE };
	char *logs = calloc(2, LOG_SIZE);
	void *values[] = { logs, (void *)(uintptr_t)(LOG_SIZE - 1), logs + LOG_SIZE,
			   (void *)(uintptr_t)(LOG_SIZE - 1) };
	int status, err = 0;

	if (!logs)
		return tenon_error(-TENON_E_NOMEM, "no memory for a log");
	status = d->cu->ModuleLoadDataEx(out, code, 4, options, values);
	if (status) {
		*out = NULL;
		err = load_failed(d, p, status, logs + LOG_SIZE, logs);
	}
	free(logs);
	return err;
}

int cuda_module_load(struct cuda_device *d, const struct tenon_program *p, cu_module *out)
{
	struct tenon_buffer code = TENON_BUFFER_INIT;
	int err;

	if (has_format(p, "cuda")) {
		err = cuda_compile(d, p, &code);
	} else {
		/* PTX must end with NUL and binaries must be aligned, so copy the payload */
		err = tenon_buffer_slice(&code, p->code);
		if (!err)
			err = tenon_buffer_u8(&code, 0);
	}
	if (!err)
		err = load(d, p, (const char *)code.data, out);
	tenon_buffer_fini(&code);
	return err;
}
