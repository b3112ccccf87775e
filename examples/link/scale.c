/* SPDX-License-Identifier: MIT */
/* A launcher with parameters: they are in the same file, and it gets them when that is opened. */
#include <string.h>
#include <tenon/launcher.h>

static float weights[3];
static float bias;

TENON_LAUNCHER_PARAMETERS(scale, "weight", "bias")
{
	const float *w = tenon_launch_elements(call, 0, kDLFloat, 32, 3);
	const float *b = tenon_launch_elements(call, 1, kDLFloat, 32, 1);

	if (!w || !b)
		return -1;
	memcpy(weights, w, sizeof(weights));
	bias = b[0];
	return 0;
}

TENON_LAUNCHER(scale)
{
	const float *in = tenon_launch_elements(call, 0, kDLFloat, 32, 3);
	float *out = tenon_launch_elements(call, 1, kDLFloat, 32, 3);
	int i;

	if (!in || !out)
		return -1;
	for (i = 0; i < 3; i++)
		out[i] = weights[i] * in[i] + bias;
	return 0;
}
