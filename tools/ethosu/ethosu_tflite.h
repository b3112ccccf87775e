/* SPDX-License-Identifier: MIT */
/* Networks for Ethos-U inside models of TensorFlow Lite. */
#ifndef TOOLS_ETHOSU_ETHOSU_TFLITE_H
#define TOOLS_ETHOSU_ETHOSU_TFLITE_H

/*
 * Vela replaces operators by custom ones with the name "ethos-u". Their inputs are the driver payload, the
 * constants (region 0), the arena (region 1), the fast scratch memory (region 2) and then the tensors of the
 * network, which are in the arena, or in regions 3 and 4 if the payload says so.
 */

#include "devices/ethosu/ethosu_container.h"
#include "runtime/tflite/tflite_model.h"

/** ethosu_tflite_is - test whether an operator was compiled for Ethos-U */
bool ethosu_tflite_is(const struct tflite_operator *op);

/**
 * ethosu_tflite_read - read the payload of an operator
 * @m: the model
 * @index: number of the operator, for which ethosu_tflite_is() is true
 * @out: receives payload, constants and the sizes of all regions; its tensors are those of the operator
 *
 * Return: 0; as ethosu_payload_read(); -TENON_E_FORMAT and -TENON_E_UNSUPPORTED for operators that are
 *	not as Vela writes them, and for tensors that lie outside of their region.
 */
int ethosu_tflite_read(const struct tflite_model *m, uint32_t index, struct ethosu_container *out);

#endif /* TOOLS_ETHOSU_ETHOSU_TFLITE_H */
