/* SPDX-License-Identifier: MIT */
/* today's sources of the device null include this; in these older headers it was <tenon/queue.h> */
#include <tenon/queue.h>
