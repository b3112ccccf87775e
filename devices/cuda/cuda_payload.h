/* SPDX-License-Identifier: MIT */
/* Kinds and formats of CUDA modules, which the table of backends lists. */
#ifndef DEVICES_CUDA_CUDA_PAYLOAD_H
#define DEVICES_CUDA_CUDA_PAYLOAD_H

#include <tenon/backend/payload_format.h>

/* kinds of modules, ended by NULL */
extern const char *const cuda_payload_kinds[];

/* ended by NULL; in the library also when the backend is left out */
extern const struct tenon_payload_format *const cuda_payload_formats[];

#endif /* DEVICES_CUDA_CUDA_PAYLOAD_H */
