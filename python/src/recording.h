/* SPDX-License-Identifier: MIT */
/* The type tenon.Recording, for queues that run recordings. */
#ifndef PYTHON_RECORDING_H
#define PYTHON_RECORDING_H

#include "core.h"

struct place;

/** recording_make - begin a recording for a device, whose reference is taken over, also on failure */
PyObject *recording_make(struct tenon_device *device);

/** recording_check - whether an object is a tenon.Recording */
bool recording_check(PyObject *o);

/** recording_commands - the recording of the library */
struct tenon_commands *recording_commands(PyObject *recording);

/** recording_slots - number of slots that it uses */
uint32_t recording_slots(PyObject *recording);

/**
 * recording_bind - find the memory of a tensor for a slot
 * @recording: recording
 * @slot: number of the slot, below recording_slots()
 * @tensor: tensor on the recording's device, large enough for its operations
 * @out: as of place_of()
 *
 * Return: 0, also when the recording does not use the slot; -1 with an exception set. Both: place_end().
 */
int recording_bind(PyObject *recording, uint32_t slot, PyObject *tensor, struct place *out);

#endif /* PYTHON_RECORDING_H */
