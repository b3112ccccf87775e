#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The numbers of oneDNN that driver/dnnl/ declares, compared with those of its header

. tests/build/tap.sh
need "${CC%% *}"
echo '#include <dnnl.h>' | $CC -E - > "$scratch/header" 2>/dev/null || skip "oneDNN's header is not installed"
grep -q '_forward_primitive_desc_create' "$scratch/header" && skip "the header is of another version than 2"

# value NAME EXPRESSION HEADER: write a program that fails where a constant has another value
{
	echo '#include <dnnl.h>'
	sed -n 's/^\tDNNL_\(ARG_[A-Z_0-9]*\) = \([0-9]*\),/_Static_assert(DNNL_\1 == \2, "\1");/p' driver/dnnl/dnnl_library.h
	sed -n 's/^\tDNNL_\(BINARY_[A-Z]*\|CONVOLUTION_[A-Z]*\|DECONVOLUTION_[A-Z]*\|POOLING_MAX\|SOFTMAX_[A-Z]*\) = \([0-9a-fx]*\),/\L_Static_assert(dnnl_\1 == \2, "");/p' \
		driver/dnnl/dnnl_library.h | sed 's/_static_assert/_Static_assert/'
	sed -n 's/^\tDNNL_QUERY_\([A-Z]*\) = \([0-9]*\),/\L_Static_assert(dnnl_query_\1_md == \2, "");/p' \
		driver/dnnl/dnnl_library.h | sed 's/_static_assert/_Static_assert/'
	tr '\t' '\n' < driver/dnnl/dnnl_library.c |
		sed -n 's/.*\[DNNL_\([A-Z_]*\)\] = { \(0x[0-9a-f]*\),.*/\L_Static_assert(dnnl_eltwise_\1 == \2, "");/p' |
		sed 's/_static_assert/_Static_assert/'
	echo '_Static_assert(sizeof(dnnl_memory_desc_t) == 696 && sizeof(dnnl_rnn_desc_t) <= 16384, "sizes");'
	echo '_Static_assert(dnnl_s32 == 4 && dnnl_s8 == 5 && dnnl_u8 == 6, "types");'
	echo '_Static_assert((dnnl_cpu_isa_avx512_core_vnni & 0x440) && (dnnl_cpu_isa_avx2_vnni & 0x440), "processors");'
	echo '_Static_assert(!((dnnl_cpu_isa_avx512_core | dnnl_cpu_isa_avx512_mic_4ops) & 0x440), "others");'
	echo '_Static_assert(dnnl_f32 == 3 && dnnl_cpu == 1 && dnnl_forward_inference == 96, "kinds");'
	echo '_Static_assert(dnnl_use_global_stats == 1 && dnnl_use_scale == 8 && dnnl_use_shift == 16, "flags");'
	echo '_Static_assert(dnnl_scratchpad_mode_user == 1 && dnnl_format_tag_any == 1, "modes");'
} > "$scratch/numbers.c"

enough()
{
	cat "$scratch/numbers.c"
	[ "$(grep -c Static_assert "$scratch/numbers.c")" -ge 30 ] && $CC -fsyntax-only "$scratch/numbers.c"
}
it "the numbers are those of oneDNN's header" enough
finish
