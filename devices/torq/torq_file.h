/* SPDX-License-Identifier: MIT */
/* Files of Synaptics' compiler: which executables are in them. */
#ifndef DEVICES_TORQ_TORQ_FILE_H
#define DEVICES_TORQ_TORQ_FILE_H

/*
 * torq-compile writes a module of IREE's virtual machine, a .vmfb: a zip archive whose entries are stored as they are. The
 * first is the machine's code, "module.fb", which Tenon does not run; each executable for the NPU is an entry of its own. A
 * file may also be the flatbuffer of one executable alone.
 *
 * Executables without actions do nothing, and are left out.
 */

#include "devices/torq/torq_program.h"

/** torq_file_is - test the first bytes of a file: those of an archive, or of one executable */
bool torq_file_is(struct tenon_slice bytes);

/**
 * struct torq_file - a file while its executables are read, one after the other
 * @rest: what was not read yet
 * @count: how many executables were read
 * @is_archive: it is a zip archive
 */
struct torq_file {
	struct tenon_cursor rest;
	uint32_t count;
	bool is_archive;
};

/** torq_file_begin - begin with the first executable; @c covers all of the file */
void torq_file_begin(const struct tenon_cursor *c, struct torq_file *out);

/**
 * torq_file_next - read the next executable
 * @f: the file
 * @out: receives it
 *
 * Return: 1; 0 when there is no further one; -TENON_E_FORMAT for a file without any, and for bytes that are no archive;
 *	-TENON_E_UNSUPPORTED for an entry that is compressed; else as torq_program_read().
 */
int torq_file_next(struct torq_file *f, struct torq_program *out);

/**
 * torq_file_each - read all executables
 * @c: covers all of the file
 * @visit: is called with each; a negative status ends the loop; may be NULL
 * @count: receives how many there are
 *
 * Return: 0; as @visit; as torq_file_next().
 */
int torq_file_each(const struct tenon_cursor *c,
		   int (*visit)(void *context, const struct torq_program *p), void *context,
		   uint32_t *count);

/**
 * torq_file_find - read an executable by the name of its function
 * @c: covers all of the file
 * @function: "main" for the only one, else its name
 * @out: receives it
 *
 * Return: 0; -TENON_E_NOT_FOUND; else as torq_file_next().
 */
int torq_file_find(const struct tenon_cursor *c, struct tenon_slice function,
		   struct torq_program *out);

#endif /* DEVICES_TORQ_TORQ_FILE_H */
