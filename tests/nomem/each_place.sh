#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every case of the unit tests, of the device layer, of backends, executors, language models, and of what RPC keeps, once for each place from which
# it asks for memory, a file or a thread, with that request failing: none crashes, each ends by itself.

. tests/build/tap.sh

[ -z "${SAN:-}${EMULATOR:-}" ] || skip "stands in for the allocator: runs without an emulator and sanitizers"
echo '#include <features.h>
int glibc = __GLIBC__;' | ${CC:-cc} -c -x c -o "$scratch/glibc.o" - 2> /dev/null || skip "the C library here is not glibc"

# these make requests fail themselves, count their children, wait for deadlines, ask drivers of others or glibc for groups (which crashes
# without memory), take long, or ask for nothing
left_out='cli cmdstream_emit copy disk_cache_trim doctor error_memory file_calls fork_gate held job json kv_cache_faults library_path nodes number
plugin_folder probe relax_bytes relax_weights stack_room tvm_calls two_processes vendor_library wrong_line'

# of other folders: what runs on fakes and simulators, which do not wait for what a case that failed has left; and of RPC what has no peer,
# who would wait for an answer without end
others='dnnl/operators ethosu/sim llm/gguf llm/jinja llm/llm llm/request llm/tokenizer llm/tokenizer_none mortise/attach mortise/elf mortise/fault
mortise/loss mortise/reset mortise/ring mortise/stream_sim mortise/stream_tree npu/accel npu/accel_jobs npu/accel_memory npu/npu_device npu/npu_place
npu/rocket npu/rocket_device npu/uio_device opencl/opencl_extensions opencl/opencl_program tflite/models tflite/operators torq/device
remote/wire remote/file_cache remote/kernel_store'

tests=$(find tests -name '*.c' | sed 's|.*/||' | tr '\n' ' ')

# tries PROGRAM [PRELOADED]: prints its faults
tries()
{
	EACH_PLACE=$scratch/places EACH_PLACE_TESTS="$tests careless_test.c" LD_PRELOAD=${2:-$scratch/each_place.so} "$1"
}

# careless NAME: a program with one case, which calls a function on the standard input by this name
careless()
{
	cat > "$scratch/careless_test.c" <<-END
		#include <setjmp.h>
		#include <stdarg.h>
		#include <stddef.h>
		#include <stdint.h>
		#include <cmocka.h>
		int $1(void);
		static void a_case(void **state)
		{
			assert_int_equal($1(), 1);
		}
		int main(void)
		{
			const struct CMUnitTest cases[] = { cmocka_unit_test(a_case) };
			return cmocka_run_group_tests(cases, NULL, NULL);
		}
	END
	{
		echo '#include <signal.h>'
		echo '#include <stdlib.h>'
		cat
	} > "$scratch/careless.c"
	${CC:-cc} -g -o "$scratch/$1" "$scratch/careless_test.c" "$scratch/careless.c" -lcmocka
}

# is_told NAME TEXT: the program is at fault, and the text says how
is_told()
{
	rm -f "$scratch/places"
	not tries "$scratch/$1" > "$scratch/told" && grep "^# $2" "$scratch/told" || { cat "$scratch/told"; return 1; }
}

finds_what_is_not_looked_at()
{
	careless uses_nothing <<-'END' && is_told uses_nothing 'signal 11 in uses_nothing'
		int uses_nothing(void)
		{
			int *number = malloc(sizeof(*number));
			*number = 1;
			return *number;
		}
	END
}

finds_a_stack_that_overflows()
{
	careless goes_deep <<-'END' && is_told goes_deep 'signal 11 in deeper'
		static int deeper(int n)
		{
			volatile char room[4096];
			room[n & 7] = 0;
			return n ? room[n & 7] + deeper(n + 1) : 1;
		}
		int goes_deep(void)
		{
			return deeper(malloc(1) == NULL);
		}
	END
}

finds_a_signal()
{
	for number in SIGPIPE SIGALRM SIGKILL; do
		careless is_ended <<-END && is_told is_ended 'ended by signal' || return
			int is_ended(void)
			{
				return malloc(1) ? 1 : raise($number);
			}
		END
	done
}

finds_no_signal_that_is_always_there()
{
	careless ends <<-'END' && tries "$scratch/ends"
		int ends(void)
		{
			return malloc(1) ? raise(SIGPIPE) : raise(SIGALRM);
		}
	END
}

says_when_there_is_no_room()
{
	${CC:-cc} -O2 -g -w -shared -fPIC -DCASE_MOST=1 -o "$scratch/room_for_one.so" tests/nomem/each_place.c &&
		careless asks_twice <<-'END' || return
		int asks_twice(void)
		{
			void *one = malloc(1), *two = malloc(1);
			return one != two;
		}
	END
	rm -f "$scratch/places"
	tries "$scratch/asks_twice" && rm "$scratch/places" &&
		not tries "$scratch/asks_twice" "$scratch/room_for_one.so"
}

no_place_crashes()
{
	faults=0
	ran=0
	rm -f "$scratch/places"
	for program in "$TENON_BUILD"/tests/unit/*_test "$TENON_BUILD"/tests/device/*_test \
		"$TENON_BUILD"/tests/cts/cpu_backend "$TENON_BUILD"/tests/cts/null_backend \
		$(for name in $others; do echo "$TENON_BUILD/tests/${name}_test"; done); do
		name=${program##*/}
		case " $(echo $left_out) " in
		*" ${name%_test} "*) continue ;;
		esac
		[ -x "$program" ] || continue
		ran=$((ran + 1))
		tries "$program" > "$scratch/told" 2>&1 && continue
		echo "$name:"
		cat "$scratch/told"
		faults=$((faults + 1))
	done
	[ "$faults" = 0 ] && [ "$ran" -gt 0 ]
}

each_name_is_a_test()
{
	for name in $left_out; do
		ls tests/*/"${name}_test.c" > /dev/null || return
	done
	for name in $others; do
		ls "tests/${name}_test.c" > /dev/null || return
	done
}

it "what is preloaded is built" ${CC:-cc} -O2 -g -w -shared -fPIC -o "$scratch/each_place.so" tests/nomem/each_place.c
it "a place that does not look at what it got is found" finds_what_is_not_looked_at
it "a place whose failure overflows the stack is found" finds_a_stack_that_overflows
it "a place whose failure ends the process is found" finds_a_signal
it "a case that a signal ends in any case is left out" finds_no_signal_that_is_always_there
it "places of a case without room for them are told" says_when_there_is_no_room
it "each program that is named here is there" each_name_is_a_test
it "what the C library refuses at any place crashes no case" no_place_crashes
finish
