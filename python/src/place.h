/* SPDX-License-Identifier: MIT */
/* Memory that an operation of a queue or of a recording reads or writes. */
#ifndef PYTHON_PLACE_H
#define PYTHON_PLACE_H

#include <tenon/backend/memory.h>

#include "core.h"

/* slots of a recording are numbered below this */
#define PLACE_SLOTS_MOST 256

/**
 * struct place - a range of memory, before its size is known
 * @memory: memory of the device; NULL for a slot of a recording, and for host memory
 * @room: what @memory points to for devices with addresses: it is not counted
 * @host: address in host memory; NULL for other memory
 * @is_slot: whether it is a slot
 * @slot: its number
 * @offset: first byte
 * @size: bytes from there on; UINT64_MAX for a slot
 * @tensor: the tenon.Tensor that keeps the memory, one reference; NULL for a slot
 */
struct place {
	struct tenon_memory *memory;
	struct tenon_memory room;
	char *host;
	bool is_slot;
	uint32_t slot;
	uint64_t offset;
	uint64_t size;
	PyObject *tensor;
};

/** enum place_access - what is done with a place */
enum place_access { PLACE_READ, PLACE_WRITE };

/**
 * place_of - find the memory of a tensor
 * @from: a tenon.Tensor on @device, or an object with memory of the host
 * @device: the device of the queue or recording
 * @offset: bytes to leave out at the beginning
 * @access: what is done with it
 * @out: must not be moved; end it with place_end()
 *
 * Return: 0; -1 with an exception set.
 */
int place_of(PyObject *from, struct tenon_device *device, uint64_t offset, enum place_access access,
	     struct place *out);

/** place_of_slot - as place_of() with the number of a slot; host memory is refused, as recordings have none */
int place_of_slot(PyObject *from, struct tenon_device *device, uint64_t offset,
		  enum place_access access, struct place *out);

/** place_end - drop what keeps the memory */
static inline void place_end(struct place *p)
{
	Py_CLEAR(p->tensor);
}

/** place_range - as an operation takes it */
static inline struct tenon_range place_range(const struct place *p)
{
	return p->is_slot ? tenon_slot(p->slot, p->offset) : tenon_range(p->memory, p->offset);
}

/**
 * place_copied - how many bytes a copy takes
 * @to: its target
 * @from: its source
 * @size: a number, or None for all of both
 * @out: receives the bytes
 *
 * Return: 0; -1 with an exception set, when the places have different sizes or are smaller than @size.
 */
int place_copied(const struct place *to, const struct place *from, PyObject *size, uint64_t *out);

/**
 * struct pattern - what memory is filled with
 * @bits: the bytes, in memory order
 * @width: how many: 1, 2 or 4
 */
struct pattern {
	uint32_t bits;
	uint32_t width;
};

/** place_filled - read the pattern (bytes) and the size (a number or None) of a fill; 0 or -1 */
int place_filled(const struct place *to, PyObject *bytes, PyObject *size, struct pattern *pattern,
		 uint64_t *out);

#endif /* PYTHON_PLACE_H */
