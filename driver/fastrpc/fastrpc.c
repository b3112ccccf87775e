/* SPDX-License-Identifier: MIT */
/* Open a session with a DSP, share memory with it, and call methods. */
#include "driver/fastrpc/fastrpc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/fastrpc/fastrpc_shell.h"
#include "driver/fastrpc/fastrpc_uapi.h"
#include "lib/brief_errors.h"

#define METHODS 32U

static const char *const dsps[] = FASTRPC_DSPS;

/* @full: receives the node's path below the root */
static int find_node(struct fastrpc *f, const char *root, const char *dsp, const char *suffix,
		     char full[PATH_MAX])
{
	snprintf(f->path, sizeof(f->path), "/dev/fastrpc-%s%s", dsp, suffix);
	snprintf(full, PATH_MAX, "%s%s", root, f->path);
	return system_find(f->calls, full);
}

/* fastrpc_find(), with the node's path below the root */
static int find_dsp(const struct system_calls *calls, const char *root, const char *dsp,
		    struct fastrpc *out, char full[PATH_MAX])
{
	int err;

	*out = (struct fastrpc){ .calls = system_calls_or_kernel(calls), .fd = -1 };
	while (out->domain < 4 && strcmp(dsps[out->domain], dsp))
		out->domain++;
	if (out->domain == 4)
		return tenon_error(-TENON_E_VALUE,
				   "there is no DSP \"%s\"; there may be adsp, mdsp, sdsp and cdsp",
				   dsp);
	err = find_node(out, root, dsp, "", full);
	if (err == -TENON_E_NOT_FOUND)
		err = find_node(out, root, dsp, "-secure", full);
	if (err == -TENON_E_NOT_FOUND)
		return tenon_error(
			err,
			"there is no /dev/fastrpc-%s: the kernel needs CONFIG_QCOM_FASTRPC, the "
			"DSP's firmware runs (remoteproc), and the device tree names the DSP",
			dsp);
	return err;
}

int fastrpc_find(const struct system_calls *calls, const char *root, const char *dsp,
		 struct fastrpc *out)
{
	char full[PATH_MAX];

	return find_dsp(calls, root, dsp, out, full);
}

int fastrpc_open(const struct system_calls *calls, const char *root, const char *dsp,
		 struct fastrpc *out)
{
	char full[PATH_MAX];
	int err = find_dsp(calls, root, dsp, out, full);

	if (err)
		return err;
	out->fd = system_open(out->calls, full, O_RDWR);
	return out->fd < 0 ? out->fd : 0;
}

void fastrpc_close(struct fastrpc *f)
{
	system_close(f->calls, &f->fd);
}

int fastrpc_allocate(const struct fastrpc *f, uint64_t size, struct dmabuf *out)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct fastrpc_uapi_buffer b = { .fd = -1 };
	int err;

	dmabuf_adopt(f->calls, -1, 0, out);
	if (!size || size > INT64_MAX - page)
		return tenon_error(-TENON_E_OVERFLOW, "%s: cannot allocate %" PRIu64 " bytes",
				   f->path, size);
	b.size = (size + page - 1) / page * page;
	err = system_ioctl(f->calls, f->fd, FASTRPC_UAPI_ALLOCATE, &b);
	if (err < 0)
		return system_error(-err, f->path, "allocate a buffer");
	dmabuf_adopt(f->calls, b.fd, b.size, out);
	return 0;
}

int fastrpc_map(const struct fastrpc *f, const struct dmabuf *b, uint64_t *address)
{
	struct fastrpc_uapi_map m = { .fd = b->fd,
				      .flags = FASTRPC_UAPI_MAP_FD,
				      .address = (uintptr_t)b->base,
				      .size = b->size };
	int err = system_ioctl(f->calls, f->fd, FASTRPC_UAPI_MAP, &m);

	*address = 0;
	if (err < 0)
		return system_error(-err, f->path, "map a buffer on the DSP");
	if (!m.dsp_address || m.dsp_address > UINT64_MAX - b->size)
		return tenon_error(-TENON_E_DEVICE,
				   "%s: the DSP has %" PRIu64 " bytes at 0x%" PRIx64, f->path,
				   b->size, m.dsp_address);
	*address = m.dsp_address;
	return 0;
}

static int check_call(const struct fastrpc *f, const struct fastrpc_call *call)
{
	if (call->method >= METHODS || call->inputs > FASTRPC_ARGUMENTS_MOST ||
	    call->outputs > FASTRPC_ARGUMENTS_MOST)
		return tenon_error(
			-TENON_E_VALUE,
			"%s: method %u with %u inputs and %u outputs; a call has a method below "
			"%u and at most %d arguments of each kind",
			f->path, call->method, call->inputs, call->outputs, METHODS,
			FASTRPC_ARGUMENTS_MOST);
	return 0;
}

int fastrpc_invoke(const struct fastrpc *f, const struct fastrpc_call *call, int32_t *result)
{
	struct fastrpc_uapi_argument arguments[2 * FASTRPC_ARGUMENTS_MOST];
	struct fastrpc_uapi_invoke invoke = { .handle = call->handle,
					      .arguments = (uintptr_t)arguments };
	int returned, err = check_call(f, call);
	uint32_t i;

	*result = 0;
	if (err)
		return err;
	invoke.scalars = call->method << 24 | call->inputs << 16 | call->outputs << 8;
	for (i = 0; i < call->inputs + call->outputs; i++) {
		const struct fastrpc_argument *a = &call->arguments[i];

		arguments[i] =
			(struct fastrpc_uapi_argument){ (uintptr_t)a->data, a->size, a->fd, 0 };
	}
	/* not system_ioctl(), which would call an interrupted method again */
	returned = f->calls->ioctl(f->fd, FASTRPC_UAPI_INVOKE, &invoke);
	if (returned != -1) {
		*result = returned;
		return 0;
	}
	if (errno == EPIPE || errno == ECONNRESET)
		return tenon_error(-TENON_E_LOST, "%s: the DSP restarted: %s", f->path,
				   strerror(errno));
	return system_error(errno, f->path, "call a method");
}
