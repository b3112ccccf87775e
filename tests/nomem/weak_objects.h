/* SPDX-License-Identifier: MIT */
/*
 * Hold a weak reference to each object that a deed makes, to see that the last strong reference ends its content.
 *
 * References are taken in tenon_object_init(); programs are linked with --wrap=tenon_object_init. The memory of the
 * objects stays until the deed is over.
 */
#ifndef TESTS_NOMEM_WEAK_OBJECTS_H
#define TESTS_NOMEM_WEAK_OBJECTS_H

#include "tests/nomem/deeds.h"

/* The case of a deed: it gives what it gives otherwise, and can be done again after the objects have gone. */
void objects_outlive_their_content(void **state);

#define DEED_WEAK(name, act) DEED_CASE(name, objects_outlive_their_content, act)

#endif /* TESTS_NOMEM_WEAK_OBJECTS_H */
