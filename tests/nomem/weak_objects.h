/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NOMEM_WEAK_OBJECTS_H
#define TESTS_NOMEM_WEAK_OBJECTS_H

/*
 * Weak references to all objects that a deed makes by tenon_object_init(), taken when they are made: the last strong reference then
 * ends their content alone, and their memory stays until the deed is over. Programs are linked with --wrap=tenon_object_init.
 */

#include "tests/nomem/deeds.h"

/* The case of a deed: it gives what it gives otherwise, and can be done again after the objects have gone. */
void objects_outlive_their_content(void **state);

#define DEED_WEAK(name, act) DEED_CASE(name, objects_outlive_their_content, act)

#endif /* TESTS_NOMEM_WEAK_OBJECTS_H */
