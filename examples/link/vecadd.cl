// Function: vecadd_kernel
// SPDX-License-Identifier: MIT
__kernel void vecadd_kernel(__global float *sum, __global const float *a, __global const float *b, int count)
{
	int i = get_global_id(0);

	if (i < count)
		sum[i] = a[i] + b[i];
}
