/* SPDX-License-Identifier: MIT */
/*
 * A launcher: host code that calls an OpenCL kernel.
 *
 *	tenon link -o vecadd.so vecadd.c vecadd.cl=opencl
 *	tenon run vecadd.so --device opencl:0 --input 8xfloat32=arange --input 8xfloat32=ones --output 8xfloat32
 */
#include <tenon/launcher.h>

#define BLOCK 64

TENON_LAUNCHER(vecadd)
{
	static struct tenon_launch_kernel add = { "vecadd_kernel", 0 };
	const DLTensor *a = tenon_launch_tensor(call, 0);
	const DLTensor *b = tenon_launch_tensor(call, 1);
	const DLTensor *sum = tenon_launch_tensor(call, 2);
	int64_t count;

	if (!a || !b || !sum)
		return -1;
	if (a->ndim != 1 || b->ndim != 1 || sum->ndim != 1 || a->shape[0] != sum->shape[0] ||
	    b->shape[0] != sum->shape[0])
		return tenon_launch_error("vecadd: want three vectors of one length");
	count = sum->shape[0];
	if (tenon_launch_device(sum))
		return -1;
	/* the arguments of the kernel, then its blocks and their size */
	return TENON_LAUNCH(&add, tenon_launch_data(sum), tenon_launch_data(a),
			    tenon_launch_data(b), tenon_launch_int(count),
			    tenon_launch_int((count + BLOCK - 1) / BLOCK), tenon_launch_int(BLOCK));
}
