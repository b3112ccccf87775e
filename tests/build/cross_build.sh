# SPDX-License-Identifier: MIT
#
# Read behind inner_make.sh by suites that build the tree for another architecture, whose name for tools is $cross and whose
# emulator is $qemu, into $folder: two such suites share what they build, and so have the same flags.

# its own dynamic linker starts a program: with -L the emulator takes "/" for the folder of the target
cross_emulator()
{
	echo "$qemu $(echo /usr/"$cross"/lib/ld-linux*) --library-path /usr/$cross/lib"
}

cross_configure()
{
	options_off "$folder" JSON NPZ LLM_TOKENIZER LLM_SERVE
}

# with_cross MAKE ARGUMENT...: inner_make or inner_check. What gcc finds when it optimises more may depend on the size of a pointer, on
# whether char has a sign, and on options that are off: armhf has small pointers and no sign, build/all_or_no_options the rest
with_cross()
{
	case $cross in
	arm-*)	optimised=-O2 ;;
	*)	optimised=-O1 ;;
	esac
	"$@" O="$folder" CROSS_COMPILE="$cross-" CFLAGS="$optimised -Werror" TESTS_CFLAGS=-O0
}

# cross_build GOAL...
cross_build()
{
	with_cross inner_make "$@"
}
