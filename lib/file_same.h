/* SPDX-License-Identifier: MIT */
/* Whether two paths name one file. */
#ifndef LIB_FILE_SAME_H
#define LIB_FILE_SAME_H

#include <stdbool.h>

/** file_is_same - test whether two paths lead to one regular file, also through links */
bool file_is_same(const char *a, const char *b);

#endif /* LIB_FILE_SAME_H */
