/* SPDX-License-Identifier: MIT */
/* Check the packets of a command stream before a board gets them. */
#ifndef DEVICES_MORTISE_MORTISE_WALK_H
#define DEVICES_MORTISE_MORTISE_WALK_H

/*
 * The code of a stream (tenon/uapi/cmdstream.h) is a row of packets as in the ring, with flags and positions 0. Every
 * address in a packet is written by a relocation of 8 bytes; "b" of a vector operation and "bias" of gemm may be 0
 * instead. Packets that call loaded code, test the device or shut it down are not allowed. A wait needs a signal
 * to the same region before it, or a region that is an input.
 */

#include "devices/cmdstream/cmdstream.h"

/* configuration words: the MORTISE_ABI of the packets, and a mask of enum mortise_feature that they need */
enum {
	MORTISE_CONFIG_ABI,
	MORTISE_CONFIG_FEATURES,
	MORTISE_CONFIG_WORDS,
};

/** mortise_walk - struct cmdstream_target.walk */
int mortise_walk(struct cmdstream_walk *walk);

/** mortise_show - struct cmdstream_target.show */
bool mortise_show(struct cmdstream_view *view);

/** mortise_setter - struct cmdstream_target.setter */
const char *mortise_setter(uint32_t n);

#endif /* DEVICES_MORTISE_MORTISE_WALK_H */
