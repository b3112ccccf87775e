# SPDX-License-Identifier: MIT
#
# Read by scripts that compile for Torq and run on Synaptics' model of it. Their wheels, torq-compiler and torq-runtime 2.3.0
# for Python 3.12, want the C library of Debian 13. torq_tools finds them unpacked below $TORQ_WHEELS, and that library in
# $TORQ_LIBRARIES where the system's is older: folders that hold ld-linux-x86-64.so.2 and libstdc++.so.6 of Debian 13.

# torq_tools: set $torq_compile and $torq_run to commands; else say on stdout what is missing
torq_tools()
{
	site=${TORQ_WHEELS:-$TENON_BUILD/torq/site}
	torq_compile=$site/iree/compiler/_mlir_libs/torq-compile
	torq_run=$site/torq/_runtime_libs/torq-run-module
	[ -f "$torq_compile" ] && [ -f "$torq_run" ] ||
		{ echo "no torq-compile and torq-run-module below $site: tests/torq/fetch fetches their wheels"; return 1; }
	libraries=$site/iree/compiler/_mlir_libs:$site/iree/_runtime_libs
	system=${TORQ_LIBRARIES:-$site/../libraries}
	if [ -f "$system/ld-linux-x86-64.so.2" ]; then
		loader="$system/ld-linux-x86-64.so.2 --library-path $system:$libraries"
	else
		loader="env LD_LIBRARY_PATH=$libraries"
	fi
	torq_compile="$loader $torq_compile" torq_run="$loader $torq_run"
	$torq_run --help > /dev/null 2>&1 ||
		{ echo "torq-run-module does not start: it wants the C library of Debian 13, see tests/torq/torq.sh"; return 1; }
}

# the networks of tests/torq/networks, and their inputs
torq_networks='add:1x64xint32 1x64xint32
convolution:1x8x8x4xint8
pool:1x8x8x4xint8
slice:1xint32<33 64xint32
sine:1x16xfloat32 1x16xfloat32'
