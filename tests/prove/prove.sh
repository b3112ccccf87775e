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

. tests/prove/plant.sh

# finds_planted CAMPAIGN ROUNDS PROGRAM OBJECT CHANGE OPTION...: so with a fault in the source of OBJECT, and nothing without it
finds_planted()
{
	campaign=$1 rounds=$2 program=$3 object=$4 change=$5
	shift 5
	like_the_build "$program" && prove --new --only "$campaign" --rounds "$rounds" --build "$faulty" "$@" &&
		plant "$program" "$object" "$change" && finds "$campaign" "$rounds" --build "$faulty" "$@"
}

# it_finds SENTENCE CAMPAIGN ROUNDS PROGRAM ...: a case of it, where the program is built
it_finds()
{
	sentence=$1
	shift
	if [ -x "$TENON_BUILD/$3" ]; then
		it "$sentence" finds_planted "$@"
	else
		skip_case "$sentence" "$3 is not built"
	fi
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

# a build whose programs are scripts that fail as a suite would that found something: what is found is told by each campaign
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

failing_programs()
{
	finds parsers 1 --build "$scratch/build" && finds allocations 1 --build "$scratch/build" &&
		finds releases 1 --build "$scratch/build" && finds faults 1 --round 0 --build "$scratch/build" &&
		finds faults 1 --round 1 --build "$scratch/build" && finds references 1 --round 3 --build "$scratch/build"
}

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
it_finds "a fault of a board that is told as a restart is found" faults 1 tests/hil/sim_board tests/hil/mortise/driver/ring/ring_wait.o \
	's/return RING_FAULTED;/return RING_RESTARTED;/' --round 0
# it costs a wait of a minute
[ -z "$NIGHTLY" ] || it_finds "so is one that nobody looks at" faults 1 tests/hil/sim_board tests/hil/mortise/driver/ring/ring_wait.o \
	's/return RING_FAULTED;/return RING_ALIVE;/' --round 0
# the suite of trackers would wait for such a server
TENON_CASE='a_killed_session_costs*' it_finds "a server that ends with a session that was killed is found" faults 1 tenon rpc/server/server.o \
	's/ssi_signo != SIGCHLD/ssi_code != CLD_EXITED/' --round 1
it_finds "a packet that leaves the end of its ring is found" references 1 tests/hil/sim_board tests/hil/mortise/driver/ring/ring.o \
	's/if (words > left)/if (words > left + 1)/' --round 3
it "a verb that fails without a disturbance is found" finds kills 1 --command "$scratch/fails"
it "a program that cannot be started is found" finds allocations 1 --build "$scratch/damaged"
it_finds "a cursor that reads a byte beyond its end is found" parsers 3 tests/fuzz/const_loader_fuzz lib/cursor.o \
	's/if (tenon_cursor_left(c) < size)/if (tenon_cursor_left(c) + 1 < size)/'
it_finds "an allocation that is not checked is found" allocations 1 tests/nomem/command_test lib/buffer.o \
	's/if (!data) {/if (!data \&\& b->size) {/'
it_finds "memory that is lost where allocations fail is found" allocations 10 tests/nomem/command_test lib/buffer.o \
	'/^void tenon_buffer_fini/,/^}/s/free(b->data);/free(b->status ? NULL : b->data);/'
it_finds "a table of an older plug-in that is read beyond its end is found" releases 1 tests/device/old_plugin_test \
	runtime/device/device_tables.o 's/size < room ? size : room/size < room ? size + sizeof(void *) : room/'
it_finds "an older file that is read no more is found" releases 1 tests/interop/models_test runtime/relax/relax_executable.o \
	's/\*magic != RELAX_MAGIC_1 && \*magic != RELAX_MAGIC_2/*magic != RELAX_MAGIC_2/' --round 2
it "a program that fails is found by each campaign that has programs" failing_programs
it "the exit status tells what was found, a wrong command line, and that nothing could run" statuses
it "the next call goes on where the last one ended" resumes
it "so does the one after kill -9, with what was counted" survives_kill
it "a program that a signal ended is found" ended
it "a round that SIGINT or SIGTERM interrupted is done again by the next call, and found nothing" interrupted
it "a campaign that was interrupted is not skipped" interrupted_verb
it "a seed does the same rounds" same
it_finds "a page that a fork of a cache copies in part is found" references 8 tests/unit/kv_cache_test runtime/kv/kv_pages.o \
	's/(int32_t)tail };/(int32_t)tail - (tail == 3) };/'
it_finds "a cache that is full too early is found" references 8 tests/unit/kv_cache_test runtime/kv/kv_pages.o \
	's/!(p->free_pages + freed)/!p->free_pages/'
it_finds "a branch that is wrong for negative numbers is found" references 8 tests/prove/relax_programs_test runtime/relax/relax_run.o \
	's/v->as.integer != 0;/v->as.integer > 0;/'
it "nothing is found" page
finish
