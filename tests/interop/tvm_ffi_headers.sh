#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The C interface of tvm-ffi as its headers declare it: every name, and the size of every struct

. tests/build/tap.sh
. tests/interop/tvm_ffi_site.sh
need nm
include=$scratch/site/tvm_ffi/include
dlpack=$scratch/site/tvm_ffi/3rdparty/dlpack/include

declared()
{
	cat "$include/tvm/ffi/c_api.h" "$include/tvm/ffi/extra/c_env_api.h" | tr '\n' ' ' |
		grep -o 'TVM_FFI_DLL[^;(]*(' | sed 's/.*[ *]\(TVMFFI[A-Za-z0-9]*\)($/\1/' | grep '^TVMFFI' | LC_ALL=C sort -u
}
declared > "$scratch/declared"
nm -D --defined-only "$library" | awk '{ print $3 }' | grep '^TVMFFI' | LC_ALL=C sort -u > "$scratch/exported"

all_exported()
{
	[ "$(wc -l < "$scratch/declared")" -ge 50 ] || return
	LC_ALL=C comm -23 "$scratch/declared" "$scratch/exported" > "$scratch/missing"
	cat "$scratch/missing"
	[ ! -s "$scratch/missing" ]
}

# theirs and ours, of equal size
cat > "$scratch/sizes.c" << 'END'
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <stddef.h>

#include "sizes.h"

int main(void)
{
	static const size_t theirs[] = {
		sizeof(TVMFFIAny), sizeof(TVMFFIObject), sizeof(TVMFFIByteArray), sizeof(TVMFFIShapeCell),
		sizeof(TVMFFISeqCell), sizeof(TVMFFIErrorCell), sizeof(TVMFFIFunctionCell),
		sizeof(TVMFFICustomAllocator), sizeof(TVMFFIFieldInfo), sizeof(TVMFFIMethodInfo),
		sizeof(TVMFFITypeMetadata), sizeof(TVMFFITypeAttrColumn), sizeof(TVMFFITypeInfo),
		sizeof(DLTensor), sizeof(DLManagedTensor), sizeof(DLManagedTensorVersioned),
	};
	int wrong = 0;

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		if (theirs[i] != ours[i].size)
			wrong = printf("%s: %zu bytes here, %zu there\n", ours[i].name, ours[i].size, theirs[i]);
	return wrong != 0;
}
END
# the headers of both declare DLPack: sizes of ours come from a program of its own
cat > "$scratch/ours.c" << 'END'
#include <stdio.h>
#include <tenon/array.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

#include "runtime/library/tvm_types.h"

#define SIZE(name, bytes) printf("{ \"%s\", %zu },\n", name, (size_t)(bytes))
#define OBJECT sizeof(struct tenon_object)

int main(void)
{
	SIZE("value", sizeof(struct tenon_value));
	SIZE("object", OBJECT);
	SIZE("slice", sizeof(struct tenon_slice));
	SIZE("shape", sizeof(struct tenon_shape) - OBJECT);
	SIZE("array", sizeof(struct tenon_array) - OBJECT);
	SIZE("error", sizeof(struct tenon_error) - OBJECT);
	SIZE("function", sizeof(struct tenon_function) - OBJECT);
	SIZE("allocator", sizeof(struct ffi_allocator));
	SIZE("field", sizeof(struct type_field));
	SIZE("method", sizeof(struct type_method));
	SIZE("metadata", sizeof(struct type_metadata));
	SIZE("column", sizeof(struct ffi_column));
	SIZE("type", sizeof(struct type_info));
	SIZE("tensor", sizeof(DLTensor));
	SIZE("managed tensor", sizeof(DLManagedTensor));
	SIZE("versioned tensor", sizeof(DLManagedTensorVersioned));
	return 0;
}
END
same_sizes()
{
	# shellcheck disable=SC2086
	${CC:-cc} -I. -Iinclude -o "$scratch/ours" "$scratch/ours.c" || return
	{
		echo '#include <stdio.h>'
		echo 'static const struct { const char *name; size_t size; } ours[] = {'
		"$scratch/ours"
		echo '};'
	} > "$scratch/sizes.h"
	# shellcheck disable=SC2086
	${CC:-cc} -I"$include" -I"$dlpack" -o "$scratch/sizes" "$scratch/sizes.c" && "$scratch/sizes"
}

it "the library exports every name of the headers" all_exported
it "structs have the sizes of the headers" same_sizes
finish
