/* SPDX-License-Identifier: MIT */
#ifndef TENON_ETHOSU_H
#define TENON_ETHOSU_H

/**
 * DOC: modules of TVM's old code generator for Ethos-U
 *
 * The code generator, which TVM has no more, writes C: a function for each part of a network that the device runs,
 * with the driver payload and the weights in arrays. All that it needs of a runtime is the one function below. A
 * program that is linked with libtenon, and with such code, has it; so has a shared object of such code that is
 * linked with libtenon or loaded by a program that is.
 */

#include <stddef.h>
#include <stdint.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* device type of an Ethos-U */
#define TENON_DL_ETHOSU 111

/**
 * TVMEthosULaunch - run a driver payload on an Ethos-U
 * @resource: what the module's caller handed through; not used
 * @payload: "COP1" or "COP2"
 * @size: its bytes
 * @addresses: of the regions: weights, scratch memory, the same once more, input, output
 * @sizes: bytes of each
 * @count: number of regions
 *
 * The device is the first of type "ethosu" that is open, or the one that opening "ethosu:0" gives. The payload is checked
 * against the device and against @sizes before it runs. Regions are copied to memory that the device reaches, and those
 * that it writes are copied back.
 *
 * Context: any thread; waits for the device.
 * Return: 0; -1 with the thread's error (tenon_error_message()).
 */
TENON_API int32_t TVMEthosULaunch(void *resource, const void *payload, size_t size,
				  const uint64_t *addresses, const size_t *sizes, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* TENON_ETHOSU_H */
