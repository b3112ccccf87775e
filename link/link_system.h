/* SPDX-License-Identifier: MIT */
/* Modules that are linked into a program. */
#ifndef LINK_LINK_SYSTEM_H
#define LINK_LINK_SYSTEM_H

/*
 * A target without a dynamic linker gets a module as an object file. It registers its functions and
 * variables when the program starts, by the function of TVM's system library: tenon_system_lib() and TVM
 * find them there. All its symbols are local, so a program may have several such modules, each with
 * a prefix of its own.
 */

#include "link/link_request.h"

/**
 * link_system_source - append C source that registers the symbols of an object
 * @object: all code of the module
 * @generation: which names are functions, and which function registers them
 * @prefix: of the module; "" for none
 * @out: receives the source
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_NOT_FOUND when there is nothing to register; -TENON_E_IO;
 *	-TENON_E_NOMEM.
 */
int link_system_source(const char *object, enum tenon_generation generation, const char *prefix,
		       struct tenon_buffer *out);

#endif /* LINK_LINK_SYSTEM_H */
