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
	"rpc serve"*)	exec timeout 0.5 "$TENON_COMMAND" "\$@" ;;
	*)		exec "$TENON_COMMAND" "\$@" ;;
	esac
END

# a build whose programs are scripts that fail as a suite would that found something
mkdir -p "$scratch/build/tests/fuzz" "$scratch/build/tests/nomem" "$scratch/build/tests/interop"
for name in fuzz/planted_fuzz nomem/command_test interop/cases_test; do
	printf '#!/bin/sh\necho "a planted fault" >&2\nexit 1\n' > "$scratch/build/tests/$name"
	chmod +x "$scratch/build/tests/$name"
done
ln -s "$TENON_COMMAND" "$scratch/build/tenon"

leak()
{
	PROVE_PLANT=$1 finds soak 1
}

wrong_operator()
{
	PROVE_PLANT_OPERATOR=-DPLANTED finds references 40
}

resumes()
{
	prove --new --only kills --rounds 3 --json > "$scratch/first" && prove --only kills --rounds 2 --json > "$scratch/second" &&
		grep -q '"next": 3' "$scratch/first" && grep -q '"next": 5' "$scratch/second"
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
		prove --new --minutes 20
	else
		prove --new --only parsers,allocations,calls,kills,references,releases --rounds 80 && prove --only faults,soak --rounds 3
	fi
}

it "leaked memory is found" leak memory
it "a leaked descriptor is found" leak descriptor
it "a leaked mapping is found" leak mapping
it "an operator that is wrong for few numbers is found" wrong_operator
it "a verb that writes in place is found" finds kills 60 --command "$scratch/in_place"
it "a command that hides failures is found" finds calls 150 --command "$scratch/deaf"
# the round of disturbed clients: suites of their own would wait for such a server
it "a server that ends is found" finds faults 1 --round 2 --command "$scratch/one_client"
it "a target that fails is found" finds parsers 1 --build "$scratch/build"
it "a verb that loses memory is found" finds allocations 1 --build "$scratch/build"
it "an older file that is read no more is found" finds releases 1 --build "$scratch/build"
it "the next call goes on where the last one ended" resumes
it "a seed does the same rounds" same
it "nothing is found" page
finish
