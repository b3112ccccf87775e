/* SPDX-License-Identifier: MIT */
/*
 * A launcher: host code of a module whose imports are device code for a small core (firmware/kernels). It is what TVM's
 * C backend would write. All tensors are on the device.
 *
 *	kernels=build/device/firmware/kernels
 *	make $kernels/dense_int8.mortise $kernels/depthwise_int8.mortise
 *	cc -shared -fPIC $(pkg-config --cflags tenon) examples/mortise/classifier.c -o classifier.so
 *	tenon run classifier.so --function classify --import $kernels/dense_int8.mortise --import $kernels/depthwise_int8.mortise \
 *		--device mortise://sim …
 */
#include "launcher.h"

/* The size of a dimension. */
static int64_t extent(const struct tenon_value *arg, int dimension)
{
	return tensor(arg)->shape[dimension];
}

/* a: image, weight, bias, scale, shape, result */
static int depthwise(const struct tenon_value *a)
{
	/* the grid: columns and rows of the image */
	const struct tenon_value args[] = { a[5],
					    a[0],
					    a[1],
					    a[2],
					    a[3],
					    a[4],
					    tenon_arg_int(extent(&a[0], 1)),
					    tenon_arg_int(extent(&a[0], 0)) };

	return launch("depthwise_int8", args, 8);
}

/* a: weight, bias, scale, result */
static int dense(const struct tenon_value *x, const struct tenon_value *a)
{
	const struct tenon_value args[] = { a[3],
					    *x,
					    a[0],
					    a[1],
					    a[2],
					    tenon_arg_int(extent(&a[0], 1)),
					    tenon_arg_int(extent(&a[0], 0)),
					    tenon_arg_int(1) };

	return launch("dense_int8", args, 8);
}

/* image; then for each layer what is said above: a depthwise convolution, two dense layers */
OPERATOR(classify)
{
	(void)self;
	*ret = tenon_arg_none();
	if (count != 14 || depthwise(args) || dense(&args[5], &args[6]))
		return -1;
	return dense(&args[9], &args[10]);
}
