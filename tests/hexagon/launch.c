/* SPDX-License-Identifier: MIT */
/* Host code for the recorded operators: each launches the kernel of its name with all its tensors. */
#include <tenon/launcher.h>

#define DATA(i) tenon_launch_data(t[i])

static int launch(struct tenon_launch_kernel *kernel, const struct tenon_launch_call *call)
{
	const DLTensor *t[4];
	int i;

	for (i = 0; i < call->count && i < 4; i++) {
		t[i] = tenon_launch_tensor(call, i);
		if (!t[i])
			return -1;
	}
	if (i < 2 || tenon_launch_device(t[0]))
		return -1;
	switch (i) {
	case 2:
		return TENON_LAUNCH(kernel, DATA(0), DATA(1));
	case 3:
		return TENON_LAUNCH(kernel, DATA(0), DATA(1), DATA(2));
	default:
		return TENON_LAUNCH(kernel, DATA(0), DATA(1), DATA(2), DATA(3));
	}
}

#define OPERATOR(name)                                                                             \
	TENON_LAUNCHER(run_##name)                                                                 \
	{                                                                                          \
		static struct tenon_launch_kernel kernel = { #name, 0 };                           \
                                                                                                   \
		return launch(&kernel, call);                                                      \
	}

OPERATOR(dense)
OPERATOR(conv2d)
OPERATOR(softmax)
OPERATOR(dense_int8)
OPERATOR(add_hvx)
