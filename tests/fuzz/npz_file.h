/* SPDX-License-Identifier: MIT */
/* A zip file of one array, for targets that read .npz. */
#ifndef TESTS_FUZZ_NPZ_FILE_H
#define TESTS_FUZZ_NPZ_FILE_H

#include <tenon/tenon.h>

/* A zip file of one array, stored, with the checksum it should have. Appended to @out. */
void npz_file(const char *name, struct tenon_slice array, struct tenon_buffer *out);

#endif /* TESTS_FUZZ_NPZ_FILE_H */
