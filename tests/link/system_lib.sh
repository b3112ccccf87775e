#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Modules that are linked into a program, for targets that cannot open shared objects

. tests/link/link.sh
grep -qs '^CONFIG_SYSTEM_LIB=y' "$TENON_BUILD/include/config/auto.conf" || skip 'needs CONFIG_SYSTEM_LIB'
command -v "${OBJCOPY:-objcopy}" > /dev/null || skip "needs objcopy"
library=${TENON_COMMAND%/*}/libtenon.a
[ -e "$library" ] || skip "libtenon.a is not built"

cat > answer.c <<'END'
#include <tenon/launcher.h>
/* the same names in both modules */
int shared_name = ANSWER;
TENON_LAUNCHER(check)
{
	int64_t n;

	if (tenon_launch_integer(call, 0, &n))
		return -1;
	return n == shared_name ? 0 : tenon_launch_error("another answer");
}
END

cat > program.c <<'END'
#include <stdio.h>
#include <tenon/backend/module_kind.h>
#include <tenon/tenon.h>

static int check(const char *prefix, int64_t answer, size_t imports)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_module *m;
	int wrong;

	if (tenon_system_lib(prefix, &m) || tenon_module_get_function(m, "check", &f)) {
		fprintf(stderr, "%s: %s\n", prefix, tenon_error_message());
		return 1;
	}
	wrong = tenon_call(f, &ret, tenon_arg_int(answer)) || !tenon_call(f, &ret, tenon_arg_int(answer + 1)) ||
		m->import_count != imports;
	if (imports && !tenon_slice_equal(m->imports[0]->kind, tenon_slice_of("opencl")))
		wrong = 1;
	if (wrong)
		fprintf(stderr, "%s: %zu imports, %s\n", prefix, m->import_count, tenon_error_message());
	tenon_error_clear();
	tenon_object_unref(f);
	tenon_object_unref(m);
	return wrong;
}

int main(void)
{
	return check("one_", 1, 1) || check("two_", 2, 1) || check("three_", 3, 0);
}
END

objects()
{
	CFLAGS='-O1 -DANSWER=1' link --format system-lib --prefix one_ -o one.o answer.c "$example/vecadd.cl=opencl" &&
		CFLAGS='-O1 -DANSWER=2' link --format system-lib --prefix two_ --abi legacy -o two.o answer.c "$example/vecadd.cl=opencl" &&
		CFLAGS='-O1 -DANSWER=3' link --format system-lib --prefix three_ -o three.o answer.c
}
it "modules of both generations become objects" objects

local_names()
{
	nm -g one.o two.o three.o | grep -v '^$\|:$' | tee names && ! grep -v ' U ' names
}
it "which define no global name" local_names

runs()
{
	$CC ${SAN:+-fsanitize=$SAN} -I "$headers" program.c one.o two.o three.o "$library" -pthread -ldl -lm -o program &&
		$EMULATOR ./program
}
it "a program has several, and finds each by its prefix" runs

again()
{
	CFLAGS='-O1 -DANSWER=1' link --format system-lib --prefix one_ -o again.o answer.c "$example/vecadd.cl=opencl" && cmp one.o again.o
}
it "the same files give the same bytes" again

echo 'static int nothing(void) { return 0; } int (*unused)(void) = nothing;' > none.c
it "code without a function to call is refused" refused 3 'no function to register' --format system-lib none.c
it "a prefix that is none of a name is refused" refused 2 'want letters, digits' --format system-lib --prefix a-b answer.c
it "a prefix of a shared object is refused" refused 2 '--prefix without --format system-lib' --prefix a answer.c
finish
