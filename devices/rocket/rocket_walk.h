/* SPDX-License-Identifier: MIT */
/* The check of register commands before the kernel gets them. */
#ifndef DEVICES_ROCKET_ROCKET_WALK_H
#define DEVICES_ROCKET_ROCKET_WALK_H

/*
 * tenon/uapi/rocket.h says what the code is. Every address register holds the address of a region of the stream, or 0
 * where the unit that would use it is switched off in the same task; the access of the region allows what the unit does;
 * and what is known of the extents is inside of it: weights, and results, a cube of surfaces that the registers of the
 * DPU or the PPU describe. What the registers say twice must agree, and forms of which it is not known where they write
 * are refused. How far inputs, biases and operands reach is not known here: of those the first byte is checked. The
 * kernel gives each descriptor an address space of its own, so a stream that reads further reads other buffers of the
 * same program, or fails.
 */

#include "devices/cmdstream/cmdstream.h"

/** rocket_walk - struct cmdstream_target.walk */
int rocket_walk(struct cmdstream_walk *walk);

/** rocket_setter - struct cmdstream_target.setter */
const char *rocket_setter(uint32_t n);

/** rocket_show - struct cmdstream_target.show */
bool rocket_show(struct cmdstream_view *view);

/**
 * rocket_check_config - check the configuration words
 *
 * Return: 0; -TENON_E_UNSUPPORTED for another SoC; -TENON_E_FORMAT for another number of words.
 */
int rocket_check_config(const struct cmdstream *s);

#endif /* DEVICES_ROCKET_ROCKET_WALK_H */
