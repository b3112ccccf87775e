#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The protocol of the ring under weak memory order, explored by Spin: as it is nothing breaks, and with any of its
# orders taken away something does. FULL=1 explores three packets to the end, otherwise two.

. tests/build/tap.sh

need spin
need "${CC%% *}"
model=$TENON_SOURCE/tests/model/ring.pml

# explore WEAK PACKETS: what the checker says
explore()
{
	mkdir -p "$scratch/weak$1" && cd "$scratch/weak$1" || return 2
	spin -a "-DWEAK=$1" "-DPACKETS=$2" "$model" > spin.log 2>&1 || { cat spin.log; return 2; }
	${CC:-cc} -O1 -w -DSAFETY -DCOLLAPSE -DVECTORSZ=1200 -o pan pan.c || return 2
	./pan -m1000000 > pan.log 2>&1
	cat pan.log
	grep -q "max search depth too small\|out of memory\|error: max" pan.log && return 2
	grep -q "errors: [01]$" pan.log || return 2
}

holds()
{
	explore 0 "$1" > "$scratch/log"
	head -n 12 "$scratch/log"
	grep -q 'errors: 0$' "$scratch/log"
}

breaks()
{
	explore "$1" "$2" > "$scratch/log"
	head -n 3 "$scratch/log"
	grep -q 'errors: 1$' "$scratch/log" && grep -q "$3" "$scratch/log"
}

it "no order of memory breaks the protocol" holds "$([ -n "$FULL" ] && echo 3 || echo 2)"
it "a head without release shows packets that are not there" breaks 1 2 'assertion violated (packet'
it "a head without acquire shows packets that are not there" breaks 2 2 'assertion violated (packet'
it "a completion without release hides what was written" breaks 3 2 'assertion violated (out'
it "a completion without acquire hides what was written" breaks 4 2 'assertion violated (out'
it "a doorbell without the host's fence is lost" breaks 5 2 'invalid end state'
it "a doorbell without the device's fence is lost" breaks 6 2 'invalid end state'
it "an interrupt without the device's fence is lost" breaks 7 2 'invalid end state'
it "an interrupt without the host's fence is lost" breaks 8 2 'invalid end state'
it "a slot that is written before its packet ran is noticed" breaks 9 3 'assertion violated (packet'
finish
