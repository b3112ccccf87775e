/* SPDX-License-Identifier: MIT */
/* Where the vendor's program for a process on a DSP is found. */
#ifndef DRIVER_FASTRPC_SHELL_H
#define DRIVER_FASTRPC_SHELL_H

/* "fastrpc_shell_unsigned_" and the number of the DSP */
#define FASTRPC_SHELL "fastrpc_shell_unsigned_"

/* names of nodes, by the kernel's number of the DSP */
#define FASTRPC_DSPS                                                                               \
	{                                                                                          \
		"adsp", "mdsp", "sdsp", "cdsp"                                                     \
	}

/* of Qualcomm's own library, of distributions, of Android; parted as in ADSP_LIBRARY_PATH, which comes before */
#define FASTRPC_SHELL_FOLDERS                                                                      \
	"/usr/lib/dsp/cdsp;/usr/lib/dsp/adsp;/usr/lib/dsp;/usr/share/qcom/dsp;/usr/lib/rfsa/adsp;" \
	"/vendor/dsp/cdsp;/vendor/dsp/adsp;/vendor/dsp;/dsp"

#define FASTRPC_SHELL_REMEDY                                                                       \
	"it comes with the device's firmware, or the package hexagon-dsp-binaries; "               \
	"ADSP_LIBRARY_PATH names other folders"

#endif /* DRIVER_FASTRPC_SHELL_H */
