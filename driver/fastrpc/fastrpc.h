/* SPDX-License-Identifier: MIT */
/* Sessions with Qualcomm's Hexagon DSPs, behind the kernel's FastRPC. */
#ifndef DRIVER_FASTRPC_H
#define DRIVER_FASTRPC_H

/*
 * A node (/dev/fastrpc-cdsp) is a DSP. A descriptor of it is a session, with one process on the DSP. That process is
 * made of the vendor's shell, a program which the vendor signed; as an unsigned process it may load libraries that
 * nobody signed. The process then has handles of libraries, whose methods fastrpc_invoke() calls.
 *
 * Buffers are dma-bufs: the CPU maps them, fastrpc_map() gives them an address on the DSP, and an argument of a call
 * may lie in one, so that nothing is copied. driver/dmabuf brackets accesses of the CPU.
 *
 * Calls are made through driver/syscall, so that tests can make each of them fail. No silicon has seen this room.
 */

#include <stddef.h>
#include <stdint.h>

#include "driver/dmabuf/dmabuf.h"
#include "driver/syscall/syscall.h"

/* arguments of a call, of each direction */
#define FASTRPC_ARGUMENTS_MOST 255

/**
 * struct fastrpc - a session
 * @calls: system calls
 * @path: "/dev/fastrpc-cdsp", for messages
 * @fd: descriptor
 * @domain: the kernel's number of the DSP: 0 adsp, 1 mdsp, 2 sdsp, 3 cdsp
 */
struct fastrpc {
	const struct system_calls *calls;
	char path[64];
	int fd;
	uint32_t domain;
};

/**
 * struct fastrpc_argument - bytes that a call passes
 * @data: first byte; NULL where there are none
 * @size: bytes
 * @fd: the dma-buf that they lie in; -1 for memory of the process, which the kernel copies
 */
struct fastrpc_argument {
	void *data;
	uint64_t size;
	int fd;
};

/**
 * struct fastrpc_call - a call of a method
 * @handle: of the library
 * @method: its number, 0 to 31
 * @arguments: those that the method reads, then those that it writes
 * @inputs: how many it reads
 * @outputs: how many it writes
 */
struct fastrpc_call {
	uint32_t handle;
	uint32_t method;
	const struct fastrpc_argument *arguments;
	uint32_t inputs;
	uint32_t outputs;
};

/**
 * fastrpc_find - look for the node of a DSP, without a session: a DSP has few
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev; "" except in tests
 * @dsp: as in fastrpc_open()
 * @out: a closed session, with the node's path, for fastrpc_find_shell()
 *
 * Return: as fastrpc_open(), if this user may open the node.
 */
int fastrpc_find(const struct system_calls *calls, const char *root, const char *dsp,
		 struct fastrpc *out);

/**
 * fastrpc_open - open the node of a DSP
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev; "" except in tests
 * @dsp: "cdsp", "adsp", "sdsp" or "mdsp"; the node may have "-secure" behind the name
 * @out: the session, without a process; closed on failure
 *
 * Return: 0; -TENON_E_VALUE for another name; -TENON_E_NOT_FOUND when there is no node; else system_open().
 */
int fastrpc_open(const struct system_calls *calls, const char *root, const char *dsp,
		 struct fastrpc *out);

/** fastrpc_close - end the session: the kernel ends its process and drops its maps. Closing twice does nothing */
void fastrpc_close(struct fastrpc *f);

/**
 * fastrpc_allocate - allocate memory that the DSP reaches
 * @f: session
 * @size: bytes; rounded up to pages
 * @out: the buffer, not mapped; dmabuf_close() frees it
 *
 * Return: 0; -TENON_E_OVERFLOW; else system_status().
 */
int fastrpc_allocate(const struct fastrpc *f, uint64_t size, struct dmabuf *out);

/**
 * fastrpc_map - give a buffer an address on the DSP
 * @f: session with a process
 * @b: the buffer, of fastrpc_allocate() or any dma-buf
 * @address: the DSP's address; 0 on failure
 *
 * Return: 0; -TENON_E_DEVICE when the kernel tells an address that does not fit; else system_status().
 */
int fastrpc_map(const struct fastrpc *f, const struct dmabuf *b, uint64_t *address);

/**
 * fastrpc_find_shell - search the vendor's shell for unsigned processes
 * @f: session
 * @root: prefix of the folders; "" except in tests
 * @path: receives the name of the file
 * @room: bytes of @path
 *
 * Looks in the folders of ADSP_LIBRARY_PATH, which are parted by semicolons, and then in those of distributions.
 *
 * Return: 0; -TENON_E_NOT_FOUND with the name, the folders and where the file comes from; -TENON_E_NOMEM.
 */
int fastrpc_find_shell(const struct fastrpc *f, const char *root, char *path, size_t room);

/**
 * fastrpc_create - create the session's process, an unsigned one
 * @f: session without a process
 * @shell: name of the file
 *
 * Return: 0; -TENON_E_FORMAT when the file is no program; -TENON_E_OVERFLOW when it is larger than the kernel takes;
 *	-TENON_E_IO when the DSP allows no unsigned processes, or this user none; else system_open(), system_map().
 */
int fastrpc_create(const struct fastrpc *f, const char *shell);

/**
 * fastrpc_open_library - load a library into the session's process
 * @f: session with a process
 * @name: "file:///libNAME_skel.so?NAME_skel_invoke&_modver=1.0": the file, and the function that takes all calls
 * @handle: of the library, for fastrpc_invoke(); 0 on failure
 *
 * The DSP's loader finds the file: see docs/accelerators/hexagon.md. Waits for it without a deadline. The library stays
 * until the session ends.
 *
 * Return: 0; -TENON_E_VALUE for a name that is too long; -TENON_E_DEVICE when the DSP refuses, with its status and
 *	reason; else as fastrpc_invoke().
 */
int fastrpc_open_library(const struct fastrpc *f, const char *name, uint32_t *handle);

/**
 * fastrpc_invoke - call a method and wait until it returns
 * @f: session with a process
 * @call: what to call
 * @result: what the method returned; 0 on failure
 *
 * There is no deadline. A signal that interrupts the wait is an error: the DSP may still run the method, so the call
 * is not repeated.
 *
 * Return: 0 when the method ran, whatever it returned; -TENON_E_VALUE when the call cannot be passed;
 *	-TENON_E_LOST when the DSP or its process ended; else system_status().
 */
int fastrpc_invoke(const struct fastrpc *f, const struct fastrpc_call *call, int32_t *result);

#endif /* DRIVER_FASTRPC_H */
