#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Some rounds of each campaign of scripts/prove, or twenty minutes of them with NIGHTLY=1; and each finds a fault that was put in by hand

. tests/build/tap.sh
need python3 "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command is not there, or not of this machine"
for option in DSO LINK GRAPH_EXECUTOR TVM_LEGACY REMOTE PICTURES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -z "$SAN" ] || skip "campaigns disturb system calls, which sanitizers do not survive"
$CC -O2 -o "$scratch/disturb" tests/prove/disturb.c && "$scratch/disturb" open true ||
	skip "system calls cannot be watched here"

prove()
{
	scripts/prove --no-build --build "$TENON_BUILD" --state "$scratch/state" "$@"
}

# finds CAMPAIGN ROUNDS OPTION...: the campaign has something on its page, with a command to see it again
finds()
{
	campaign=$1 rounds=$2
	shift 2
	prove --new --only "$campaign" --rounds "$rounds" "$@" > "$scratch/page" 2>&1
	status=$?
	cat "$scratch/page"
	[ $status -eq 1 ] && grep -q "again: scripts/prove .*--only $campaign --round" "$scratch/page" &&
		tail -n 1 "$scratch/page" | grep -qx '0 passed, 1 failed, 0 skipped'
}

# fault NAME: a command that is tenon but for a fault, as a file
fault()
{
	cat > "$scratch/$1" && chmod +x "$scratch/$1"
}

# it writes in place
fault in_place <<-END
	#!/bin/sh
	case "\$*" in
	"params align"*)	"$TENON_COMMAND" "\$@" && cp "\$4" "\$4.copy" &&
				dd bs=16 status=none if="\$4.copy" of="\$4" && rm "\$4.copy" ;;
	*)			exec "$TENON_COMMAND" "\$@" ;;
	esac
END
# it does not look whether reading failed
fault deaf <<-END
	#!/bin/sh
	"$TENON_COMMAND" "\$@" 2> /dev/null
	exit 0
END
# its server ends soon
fault one_client <<-END
	#!/bin/sh
	case "\$*" in
	"rpc serve"*)	exec timeout 0.1 "$TENON_COMMAND" "\$@" ;;
	*)		exec "$TENON_COMMAND" "\$@" ;;
	esac
END

# it unpacks a module that was linked of another one's parts, and loses a byte of a payload
fault loses_a_byte <<-END
	#!/bin/sh
	"$TENON_COMMAND" "\$@" || exit
	case "\$*" in
	unpack*second.so*)	dd bs=1 skip=1 status=none if="\$3/part0.cl" of="\$3/copy" && mv "\$3/copy" "\$3/part0.cl" ;;
	esac
END
# it links all parts below the host code
fault imports_all <<-END
	#!/bin/sh
	case "\$*" in
	link*first.so*--import*)	exec "$TENON_COMMAND" \$(echo "\$*" | sed 's/ --import [^ ]*//g') ;;
	esac
	exec "$TENON_COMMAND" "\$@"
END
# it cannot write what it should, or lacks the option for it
fault fails <<-END
	#!/bin/sh
	case "\$*" in
	"params align"*)	echo "no" >&2; exit 3 ;;
	esac
	exec "$TENON_COMMAND" "\$@"
END
sed 's/exit 3/exit 4/' "$scratch/fails" > "$scratch/lacks" && chmod +x "$scratch/lacks"
# a signal ends the campaign and it, and it says that it lacks the option
fault interrupts <<-END
	#!/bin/sh
	case "\$*" in
	"params align"*)	read -r _ _ _ prove _ < /proc/\$PPID/stat; kill -TERM "\$prove"; exit 4 ;;
	esac
	exec "$TENON_COMMAND" "\$@"
END

# a build whose programs are scripts that fail as a suite would that found something
mkdir -p "$scratch/build/tests/fuzz" "$scratch/build/tests/nomem" "$scratch/build/tests/interop" "$scratch/build/tests/hil" "$scratch/build/tests/remote"
for name in fuzz/planted_fuzz nomem/command_test interop/cases_test hil/sim_board remote/killed_test remote/killed_farm_test; do
	printf '#!/bin/sh\necho "a planted fault" >&2\nexit 1\n' > "$scratch/build/tests/$name"
	chmod +x "$scratch/build/tests/$name"
done
ln -s "$TENON_COMMAND" "$scratch/build/tenon"
# one whose program cannot be started, and one without programs
mkdir -p "$scratch/damaged/tests/nomem" "$scratch/empty"
echo "no program" > "$scratch/damaged/tests/nomem/command_test" && chmod +x "$scratch/damaged/tests/nomem/command_test"
ln -s "$TENON_COMMAND" "$scratch/damaged/tenon"
ln -s "$TENON_COMMAND" "$scratch/empty/tenon"

# planted NAME SUITE SOURCE SED: a build of a suite alone, with one file of the runtime changed
planted()
{
	[ -e "$TENON_BUILD/tests/$2.o" ] || return 0
	mkdir -p "$scratch/$1/tests/${2%/*}" && ln -s "$TENON_COMMAND" "$scratch/$1/tenon" && sed "$4" "$3" > "$scratch/$1/changed.c" || return
	! cmp -s "$3" "$scratch/$1/changed.c" &&
		$CC -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -Iinclude -iquote . -iquote "${3%/*}" \
			-iquote "$TENON_BUILD/include" -include "$TENON_BUILD/include/generated/autoconf.h" -DTENON_PLUGINS_INSIDE \
			-fPIC -O2 -ffunction-sections -c -o "$scratch/$1/changed.o" "$scratch/$1/changed.c" &&
		$CC -Wl,--gc-sections -Wl,--as-needed -o "$scratch/$1/tests/$2" "$TENON_BUILD/tests/$2.o" "$scratch/$1/changed.o" \
			"$TENON_BUILD/tests/case_filter.o" "$TENON_BUILD/libtenon.a" $(pkg-config --libs cmocka) -pthread -ldl -lm
}

# the last of three tokens stays behind; pages that a pop frees do not count for it
planted copies_less unit/kv_cache_test runtime/kv/kv_pages.c 's/(int32_t)tail };/(int32_t)tail - (tail == 3) };/'
planted full_early unit/kv_cache_test runtime/kv/kv_pages.c 's/!(p->free_pages + freed)/!p->free_pages/'
planted negative_branch prove/relax_programs_test runtime/relax/relax_run.c 's/v->as.integer != 0;/v->as.integer > 0;/'

leak()
{
	PROVE_PLANT=$1 finds soak 1
}

wrong_operator()
{
	PROVE_PLANT_OPERATOR=-DPLANTED finds references 40
}

# ends STATUS LAST_LINE OPTION...: prove ends so; "" is any line
ends()
{
	want=$1 line=$2
	shift 2
	prove --new "$@" > "$scratch/page" 2>&1
	status=$?
	cat "$scratch/page"
	[ $status -eq "$want" ] && tail -n 1 "$scratch/page" | grep -q "^$line"
}

statuses()
{
	ends 2 "" --only nothing --rounds 1 && ends 2 "" --minutes nan && ends 2 "" --round 1 &&
		ends 4 "" --command "$scratch/none" --rounds 1 &&
		ends 4 "0 passed, 0 failed, 1 skipped" --only parsers --rounds 1 --build "$scratch/empty" &&
		ends 4 "0 passed, 0 failed, 1 skipped" --only kills --rounds 1 --command "$scratch/lacks" &&
		ends 0 "1 passed, 0 failed, 0 skipped" --only kills --rounds 1
}

# a build whose programs end the campaign and themselves, either one first, by a signal; and one whose programs pass
ending()
{
	mkdir -p "$scratch/$1/tests/nomem"
	cat > "$scratch/$1/tests/nomem/command_test" && chmod +x "$scratch/$1/tests/nomem/command_test"
	ln -s "$TENON_COMMAND" "$scratch/$1/tenon"
}
for signal in INT TERM; do
	printf '#!/bin/sh\nkill -%s $PPID $$\n' $signal | ending $signal-before
	printf '#!/bin/sh\n(sleep 0.3; kill -%s $PPID) > /dev/null 2>&1 &\nkill -%s $$\n' $signal $signal | ending $signal-after
done
printf '#!/bin/sh\n' | ending passes

# nothing was found in a round that was interrupted, and the next call does it again
interrupted()
{
	for signal in INT TERM; do
		for order in before after; do
			prove --new --only allocations --rounds 3 --build "$scratch/$signal-$order" > "$scratch/page" 2>&1
			prove --only allocations --rounds 1 --build "$scratch/passes" --json > "$scratch/next" || return 1
			cat "$scratch/page"
			! grep -q 'found by' "$scratch/page" && grep -q '"next": 1,' "$scratch/next" || return 1
		done
	done
}

# nor is a campaign skipped for what a verb says that the same signal ended
interrupted_verb()
{
	prove --new --only kills --rounds 1 --command "$scratch/interrupts" > "$scratch/page" 2>&1
	cat "$scratch/page"
	tail -n 1 "$scratch/page" | grep -q ', 0 skipped$'
}

# a program that something else ended is found, with the signal
ended()
{
	finds allocations 1 --build "$scratch/dies" && grep -q SIGTERM "$scratch/page"
}
printf '#!/bin/sh\nkill -TERM $$\n' | ending dies

resumes()
{
	prove --new --only kills --rounds 3 --json > "$scratch/first" && prove --only kills --rounds 2 --json > "$scratch/second" &&
		grep -q '"next": 3' "$scratch/first" && grep -q '"next": 5' "$scratch/second"
}

# a build whose third program kills the campaign, and so on
mkdir -p "$scratch/kills/tests/nomem"
ln -s "$TENON_COMMAND" "$scratch/kills/tenon"
cat > "$scratch/kills/tests/nomem/command_test" <<-END
	#!/bin/sh
	echo . >> "$scratch/kills/count"
	[ \$((\$(wc -l < "$scratch/kills/count") % 3)) -ne 0 ] || kill -9 \$PPID
END
chmod +x "$scratch/kills/tests/nomem/command_test"

# two rounds are kept, and their counts; the third is done again
survives_kill()
{
	prove --new --only allocations --rounds 9 --build "$scratch/kills"
	[ $? -eq 137 ] && ! ls "$scratch/state" | grep part &&
		prove --only allocations --rounds 1 --build "$scratch/passes" --json | tee "$scratch/next" &&
		grep -q '"next": 3,' "$scratch/next" && grep -q '"rounds": 3,' "$scratch/next" && grep -q '"commands": 60' "$scratch/next"
}

same()
{
	for try in 1 2; do
		prove --new --seed 7 --only references,kills --rounds 6 --json | grep -v seconds > "$scratch/same$try" || return 1
	done
	diff "$scratch/same1" "$scratch/same2"
}

# found_by SUITE BUILD: what planted() made is found, by this suite
found_by()
{
	[ -x "$2/tests/$1" ] && finds references 8 --build "$2" && grep -q "TENON_CASE='random_.*$1: " "$scratch/page"
}

# wrong_suite SENTENCE SUITE NAME: a case of it, where the configuration has the suite
wrong_suite()
{
	if [ -e "$TENON_BUILD/tests/$2.o" ]; then
		it "$1" found_by "$2" "$scratch/$3"
	else
		skip_case "$1" "$2 is not built"
	fi
}

# the same rounds each time, so that the verdict is the tree's and not luck's
page()
{
	if [ -n "$NIGHTLY" ]; then
		prove --new --minutes 20 > "$scratch/page"
		status=$?
		cat "$scratch/page"
		[ $status -eq 0 ] && tail -n 1 "$scratch/page" | grep -q ', 0 skipped$'
	else
		prove --new --only parsers,allocations,calls,kills,references,releases --rounds 80 && prove --only faults,soak --rounds 3
	fi
}

it "leaked memory is found" leak memory
it "a leaked descriptor is found" leak descriptor
it "a leaked mapping is found" leak mapping
it "a leaked thread is found" leak thread
it "an operator that is wrong for few numbers is found" wrong_operator
it "a payload that changes when a module is put together again is found" finds references 1 --round 1 --command "$scratch/loses_a_byte"
it "an import that is lost is found" finds references 12 --command "$scratch/imports_all"
it "a verb that writes in place is found" finds kills 60 --command "$scratch/in_place"
it "a command that hides failures is found" finds calls 150 --command "$scratch/deaf"
# the round of disturbed clients: suites of their own would wait for such a server
it "a server that ends is found" finds faults 1 --round 2 --command "$scratch/one_client"
it "a board whose fault is not told is found" finds faults 1 --round 0 --build "$scratch/build"
it "so is a peer that does not survive another one's end" finds faults 1 --round 1 --build "$scratch/build"
it "and a stream of packets that differs from the reference" finds references 1 --round 3 --build "$scratch/build"
it "a verb that fails without a disturbance is found" finds kills 1 --command "$scratch/fails"
it "a program that cannot be started is found" finds allocations 1 --build "$scratch/damaged"
it "a target that fails is found" finds parsers 1 --build "$scratch/build"
it "a verb that loses memory is found" finds allocations 1 --build "$scratch/build"
it "an older file that is read no more is found" finds releases 1 --build "$scratch/build"
it "the exit status tells what was found, a wrong command line, and that nothing could run" statuses
it "the next call goes on where the last one ended" resumes
it "so does the one after kill -9, with what was counted" survives_kill
it "a program that a signal ended is found" ended
it "a round that SIGINT or SIGTERM interrupted is done again by the next call, and found nothing" interrupted
it "a campaign that was interrupted is not skipped" interrupted_verb
it "a seed does the same rounds" same
wrong_suite "a page that a fork of a cache copies in part is found" unit/kv_cache_test copies_less
wrong_suite "a cache that is full too early is found" unit/kv_cache_test full_early
wrong_suite "a branch that is wrong for negative numbers is found" prove/relax_programs_test negative_branch
it "nothing is found" page
finish
