/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_RELAX_RELAX_DEVICE_H
#define RUNTIME_RELAX_RELAX_DEVICE_H

/**
 * DOC: devices of a machine
 *
 * A program numbers its devices: 0 is the main one, where inputs and constants are; -1, the last, is
 * the host. Storages of a device come from a pool of their own, which works as the machine's does:
 * what is free is used again on the thread's queue, behind the work that used it before.
 */

#include "runtime/model/tensor_place.h"
#include "runtime/relax/relax.h"

#define RELAX_DEVICES_MOST 8

/**
 * struct relax_device - one of the devices of a machine
 * @id: DLPack's type and number
 * @pool: its storages; the machine's own pool for the host
 */
struct relax_device {
	DLDevice id;
	struct relax_pool *pool;
};

/**
 * relax_set_devices - say what a machine runs on, before relax_init()
 * @vm: the machine
 * @list: the main device first; the host is put behind unless the last one is
 * @count: how many; 0 for the host alone
 *
 * Return: 0; -TENON_E_DEVICE for one that does not open; -TENON_E_USAGE when the machine was
 *	initialised for others; -TENON_E_VALUE for too many; -TENON_E_NOMEM.
 */
int relax_set_devices(struct relax_vm *vm, const DLDevice *list, size_t count);
void relax_free_devices(struct relax_vm *vm);

/* The pool that a program's device number means; NULL for none. */
struct relax_pool *relax_device_pool(const struct relax_vm *vm, int64_t number);

/* Where inputs and constants are wanted. */
static inline const struct relax_device *relax_main_device(const struct relax_vm *vm)
{
	return &vm->devices[0];
}

/* A copy of a tensor on a device. @vm may be NULL. */
int relax_tensor_move(struct relax_vm *vm, const DLTensor *from, DLDevice device, struct tenon_tensor **out);

/* Put an owned value, and what tuples in it hold, where inputs are wanted. */
int relax_value_to_main(struct relax_vm *vm, struct tenon_value *value);

/* Another thread took the machine: its work comes behind that of the one before. */
int relax_follow(struct relax_vm *vm);

/* Wait for all devices. */
int relax_wait(const struct relax_vm *vm);

#endif /* RUNTIME_RELAX_RELAX_DEVICE_H */
