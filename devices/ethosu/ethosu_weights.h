/* SPDX-License-Identifier: MIT */
/* Decode the weights of a network, for the functional model. */
#ifndef DEVICES_ETHOSU_ETHOSU_WEIGHTS_H
#define DEVICES_ETHOSU_ETHOSU_WEIGHTS_H

/*
 * A stream of bits, least significant first, in slices. A slice has a header, sometimes a palette, and
 * chunks: some with indices of weights, some with lengths of runs of zeros between them. Both are
 * Golomb-Rice codes: quotients in unary, the remainders of a chunk behind the quotients of the next one.
 */

#include <tenon/backend/cursor.h>

/**
 * ethosu_weights_decode - decode a stream of weights
 * @bytes: the stream
 * @count: number of weights that the operation needs
 * @out: receives them
 *
 * Bytes behind the end of the stream are padding.
 *
 * Return: 0; -TENON_E_TRUNCATED when the bytes end before the stream; -TENON_E_FORMAT for another number
 *	of weights, and for headers that have no meaning; -TENON_E_NOMEM.
 */
int ethosu_weights_decode(struct tenon_slice bytes, size_t count, int16_t *out);

/**
 * ethosu_weights_decode_fast - decode weights in the fast format of U85
 * @bytes: the stream
 * @count: number of weights that the operation needs
 * @out: receives them
 *
 * Return: 0; -TENON_E_TRUNCATED when the bytes end before the weights.
 */
int ethosu_weights_decode_fast(struct tenon_slice bytes, size_t count, int16_t *out);

#endif /* DEVICES_ETHOSU_ETHOSU_WEIGHTS_H */
