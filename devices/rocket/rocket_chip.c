/* SPDX-License-Identifier: MIT */
/* The table of SoCs, and finding the one of this machine. */
#include "devices/rocket/rocket_chip.h"

#include <stdio.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/uapi/rocket.h>

#include "lib/brief_errors.h"

#define DEVICE_TREE "/sys/firmware/devicetree/base/compatible"

/* the first is meant where nothing else is known */
static const struct rocket_chip chips[] = {
	{ ROCKET_SOC_RK3588, "rk3588", "rockchip,rk3588", 3, NULL },
	{ ROCKET_SOC_RK3576, "rk3576", "rockchip,rk3576", 2,
	  "its convolution and output units have other registers than RK3588's, of which public "
	  "sources know some kinds of layers only, and no release of Linux drives it" },
	{ ROCKET_SOC_RK3568, "rk3568", "rockchip,rk3568", 1,
	  "its convolution unit has other registers than RK3588's, and no public program was seen "
	  "to run on it by Linux's driver" },
	{ ROCKET_SOC_RK3568, "rk3566", "rockchip,rk3566", 1, "it has the NPU of RK3568" },
};

#define CHIPS (sizeof(chips) / sizeof(chips[0]))

const struct rocket_chip *rocket_chip_of_soc(uint32_t soc)
{
	size_t i;

	for (i = 0; i < CHIPS; i++)
		if (chips[i].soc == soc)
			return &chips[i];
	return NULL;
}

/* Find a SoC among strings, each with its NUL: "radxa,rock-5b", "rockchip,rk3588". */
static const struct rocket_chip *chip_among(const char *texts, size_t size)
{
	size_t at, i;

	for (at = 0; at < size; at += strlen(texts + at) + 1)
		for (i = 0; i < CHIPS; i++)
			if (!strcmp(texts + at, chips[i].compatible))
				return &chips[i];
	return NULL;
}

int rocket_chip_here(const struct system_calls *calls, const char *root,
		     const struct rocket_chip **out)
{
	char path[512], texts[256] = "";
	int err;

	*out = &chips[0];
	snprintf(path, sizeof(path), "%s" DEVICE_TREE, root);
	err = system_read_text(system_calls_or_kernel(calls), path, texts, sizeof(texts));
	if (err == -TENON_E_NOMEM)
		return err;
	if (err) {
		tenon_error_clear();
		return 0;
	}
	*out = chip_among(texts, sizeof(texts) - 1);
	return *out ? 0
		    : tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: a board \"%s\"; rocket knows RK3588, and of RK3576, RK3568 "
				  "and RK3566 the names",
				  path, texts);
}
