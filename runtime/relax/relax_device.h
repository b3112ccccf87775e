/* SPDX-License-Identifier: MIT */
/* The devices that a machine's program numbers. */
#ifndef RUNTIME_RELAX_RELAX_DEVICE_H
#define RUNTIME_RELAX_RELAX_DEVICE_H

/*
 * A program numbers its devices: 0 is the main one, for inputs and constants; -1, the last, is the
 * host. Each device has a storage pool, which works like the machine's: freed storage is reused on
 * the thread's queue, ordered after the work that used it before.
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
 * relax_set_devices - set the devices of a machine, before relax_init()
 * @vm: the machine
 * @list: main device first; the host is appended unless it is the last
 * @count: number of devices; 0 for the host only
 *
 * Return: 0; -TENON_E_DEVICE for one that does not open; -TENON_E_USAGE when the machine was
 *	initialised for others; -TENON_E_VALUE for too many; -TENON_E_NOMEM.
 */
int relax_set_devices(struct relax_vm *vm, const DLDevice *list, size_t count);
void relax_free_devices(struct relax_vm *vm);

/* Free the idle memory of all devices; the calling thread runs the machine. */
void relax_trim_devices(struct relax_vm *vm);

/* Get the pool for a program's device number; NULL if there is no such device. */
struct relax_pool *relax_device_pool(const struct relax_vm *vm, int64_t number);

/* The device for inputs and constants. */
static inline const struct relax_device *relax_main_device(const struct relax_vm *vm)
{
	return &vm->devices[0];
}

/* Copy a tensor to a device. @vm may be NULL. */
int relax_tensor_move(struct relax_vm *vm, const DLTensor *from, DLDevice device,
		      struct tenon_tensor **out);

/* Move an owned value, including items of tuples, to the main device. */
int relax_value_to_main(struct relax_vm *vm, struct tenon_value *value);

/* Order the calling thread's work after that of the machine's previous thread. */
int relax_follow(struct relax_vm *vm);

/* Wait for all devices. */
int relax_wait(const struct relax_vm *vm);

#endif /* RUNTIME_RELAX_RELAX_DEVICE_H */
