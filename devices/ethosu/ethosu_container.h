/* SPDX-License-Identifier: MIT */
/* Read what compilers for Ethos-U write: payload, constants, regions and tensors. */
#ifndef DEVICES_ETHOSU_ETHOSU_CONTAINER_H
#define DEVICES_ETHOSU_ETHOSU_CONTAINER_H

/*
 * A file is a driver payload ("COP1", "COP2"), or what Vela writes with --output-format raw: a .npz file
 * with the payload, constants, sizes of regions, and where inputs and outputs are. A program hands the same
 * over as parts (tenon/uapi/ethosu_parts.h). Reading allocates
 * nothing: all slices point into the file.
 */

#include "devices/ethosu/ethosu_check.h"

/* bytes at the start of a file that tell what it is */
#define ETHOSU_CONTAINER_MAGIC 4

/* a tensor has at most as many dimensions */
#define ETHOSU_DIMENSIONS 6

/** enum ethosu_role - what the network does with a tensor */
enum ethosu_role { ETHOSU_INPUT, ETHOSU_OUTPUT, ETHOSU_VARIABLE, ETHOSU_ROLES };

/** enum ethosu_field - what describes the tensors of a role */
enum ethosu_field {
	ETHOSU_TENSOR_SHAPE,
	ETHOSU_TENSOR_ELEMENT,
	ETHOSU_TENSOR_REGION,
	ETHOSU_TENSOR_OFFSET,
	ETHOSU_FIELDS
};

/**
 * struct ethosu_tensor - where a tensor is
 * @role: input, output or variable
 * @region: region
 * @offset: offset in the region
 * @element: bytes of an element
 * @shape: extents; compilers put 1 in front
 * @bytes: size
 */
struct ethosu_tensor {
	enum ethosu_role role;
	uint64_t region;
	uint64_t offset;
	uint64_t element;
	uint64_t shape[ETHOSU_DIMENSIONS];
	uint64_t bytes;
};

/**
 * struct ethosu_container - contents of a file
 * @payload: the driver payload; its offsets count from the first byte of the file
 * @format: "cop", "npz" or "parts"
 * @complete: it has more than the payload: constants, sizes, tensors
 * @constants: bytes of region @constant_region, if @complete; of parts the size alone, until ethosu_container_give()
 * @constant_region: their region
 * @given_region: region that is the program's memory, at the tensors in it; ETHOSU_REGIONS for none
 * @sizes: bytes of each region; ETHOSU_UNLIMITED where the file does not say
 * @fields: numbers of 64 bits that describe tensors, by role and field
 * @counts: number of tensors of each role
 */
struct ethosu_container {
	struct ethosu_payload payload;
	const char *format;
	bool complete;
	struct tenon_slice constants;
	uint32_t constant_region;
	uint32_t given_region;
	uint64_t sizes[ETHOSU_REGIONS];
	struct tenon_slice fields[ETHOSU_ROLES][ETHOSU_FIELDS];
	uint64_t counts[ETHOSU_ROLES];
};

/** ethosu_container_is - test whether bytes begin as a driver payload, a zip archive, or as parts */
bool ethosu_container_is(struct tenon_slice bytes);

/** ethosu_container_is_parts - test whether bytes begin as parts */
bool ethosu_container_is_parts(struct tenon_slice bytes);

/** ethosu_container_is_zip - test whether bytes begin as a zip archive */
bool ethosu_container_is_zip(struct tenon_slice bytes);

/**
 * ethosu_container_read - read a file
 * @c: cursor over the whole file
 * @out: receives the contents
 *
 * Entries of .npz files that are not needed, among them pickled objects, are skipped.
 *
 * Return: 0; as ethosu_payload_read(); -TENON_E_NOT_FOUND for a .npz file that lacks an entry;
 *	-TENON_E_UNSUPPORTED for one that is compressed; -TENON_E_OVERFLOW.
 */
int ethosu_container_read(const struct tenon_cursor *c, struct ethosu_container *out);

/**
 * ethosu_container_give - give the constants of a network that was read from its parts
 * @c: what was read; other forms have theirs
 * @name: of the file, for messages
 * @constants: where the program has them
 *
 * Return: 0; -TENON_E_FORMAT for another size.
 */
int ethosu_container_give(struct ethosu_container *c, const char *name,
			  struct tenon_slice constants);

/** ethosu_container_tensor - tensor number @index of a role, which is below its count */
struct ethosu_tensor ethosu_container_tensor(const struct ethosu_container *c,
					     enum ethosu_role role, uint64_t index);

/** ethosu_container_check - check the command stream against the sizes of regions; as ethosu_check() */
int ethosu_container_check(const struct ethosu_container *c, const char *name,
			   struct ethosu_extents *out);

/* ethosu_npz.c: ethosu_container_read() of .npz files */
int ethosu_npz_read(const struct tenon_cursor *c, struct ethosu_container *out);

/* ethosu_parts.c: the same of parts */
int ethosu_parts_read(const struct tenon_cursor *c, struct ethosu_container *out);

/**
 * struct ethosu_regions - what the regions of a network are
 * @constants: region of constants
 * @scratch: region of scratch memory
 * @scratch_size: its bytes
 * @fast: region of fast scratch memory
 * @fast_size: its bytes
 */
struct ethosu_regions {
	uint64_t constants;
	uint64_t scratch;
	uint64_t scratch_size;
	uint64_t fast;
	uint64_t fast_size;
};

/**
 * ethosu_regions_check - set the sizes of regions, and check that all tensors are within theirs
 * @c: has constants and tensors
 * @name: of the file
 * @r: its regions
 *
 * Return: 0; -TENON_E_FORMAT.
 */
int ethosu_regions_check(struct ethosu_container *c, const char *name,
			 const struct ethosu_regions *r);

/* of ethosu_regions.c: what the names of a role's arrays in a .npz file begin with */
extern const char *const ethosu_role_names[ETHOSU_ROLES];

#endif /* DEVICES_ETHOSU_ETHOSU_CONTAINER_H */
