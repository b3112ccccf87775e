/* SPDX-License-Identifier: MIT */
/* The check of register commands before the kernel gets them. */
#ifndef DEVICES_ROCKET_ROCKET_WALK_H
#define DEVICES_ROCKET_ROCKET_WALK_H

/*
 * tenon/uapi/rocket.h says what the code is. Every address register holds the address of a region of the stream, or 0
 * where the unit that would use it is switched off in the same task. The access of the region must allow what the unit
 * does. Extents that are known must lie inside the region: those of weights, and of results, a cube of surfaces that the
 * registers of the DPU or the PPU describe. Registers that repeat a value must agree, and formats whose write addresses
 * are not known are refused. The extents of inputs, biases and operands are not known: only their first byte is checked.
 * The kernel gives each descriptor an address space of its own, so a stream that reads further reads other buffers of
 * the same program, or fails.
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
