/* SPDX-License-Identifier: MIT */
/* Networks that Vela compiled, with inputs and the outputs of the reference kernels (tests/ethosu/data). */
#ifndef TESTS_NPU_NETWORKS_H
#define TESTS_NPU_NETWORKS_H

#include "devices/ethosu/ethosu_accel.h"

#define FILE_MOST 65536
#define IO_MOST	  3

enum network_id { AVGPOOL, CONVOLUTION, ADDITION, FALLBACK_0, FALLBACK_1, SOFTMAX, NETWORKS };

/* a file whose bytes are in a region before the run, or are compared with it afterwards */
struct place {
	const char *file;
	unsigned int region;
	uint64_t offset;
};

struct network {
	const char *folder;
	const char *payload;
	const char *constants; /* of region 0; NULL: none */
	uint32_t config;       /* of a device that runs it */
	uint64_t sizes[ETHOSU_REGIONS];
	struct place inputs[IO_MOST];
	struct place outputs[IO_MOST];
};

extern const struct network networks[NETWORKS];

/* The plan of a network, and what it points to. */
struct rig {
	const struct network *network;
	uint8_t payload[FILE_MOST];
	uint8_t constants[FILE_MOST];
	struct ethosu_payload p;
	struct ethosu_range inputs[IO_MOST], outputs[IO_MOST];
	struct ethosu_network_plan plan;
};

/* Return: bytes of a file below tests/ethosu/data. */
size_t network_file(const char *folder, const char *name, uint8_t *to);

/* Read a network. */
void network_read(enum network_id id, struct rig *r);

/* Put inputs into their places, and poison those of outputs that no input shares. */
void network_put(const struct rig *r, const struct ethosu_network *n);

/* Are all outputs those of the reference kernels? */
bool network_is_right(const struct rig *r, const struct ethosu_network *n);

#endif /* TESTS_NPU_NETWORKS_H */
