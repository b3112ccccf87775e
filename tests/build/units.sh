#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The units of "tenon rpc serve": systemd reads them and calls them safe, and the command knows the options

. tests/build/tap.sh
need systemd-analyze
units=packaging/systemd

# verified UNIT-FOLDER: what systemd says of the units there; the command is not installed here
verified()
{
	rm -rf "$scratch/units"
	mkdir "$scratch/units" && cp "$1"/tenon-rpc.* "$scratch/units/" &&
		sed -i 's,/usr/bin/tenon,/bin/true,' "$scratch/units/tenon-rpc.service" &&
		(cd "$scratch/units" && systemd-analyze verify --man=no ./tenon-rpc.service ./tenon-rpc.socket) > "$scratch/words" 2>&1
	grep 'tenon-rpc' "$scratch/words"
}

complains()
{
	mkdir "$scratch/wrong" && cp "$units"/tenon-rpc.* "$scratch/wrong/" &&
		sed -i 's/^ProtectHome=yes/ProtectHome=perhaps/' "$scratch/wrong/tenon-rpc.service" && verified "$scratch/wrong"
}

# exposed TENTHS FILE: systemd calls the service more exposed than that
exposed()
{
	! systemd-analyze security --offline=true --no-pager --threshold="$1" "$2" > "$scratch/words" 2>&1
}

is_safe()
{
	exposed 20 "$units/tenon-rpc.service" || return 0
	tail -n 2 "$scratch/words"
	return 1
}

is_not_always_safe()
{
	grep -v '^[PRS][a-z]*[A-Z].*=\|^CapabilityBoundingSet' "$units/tenon-rpc.service" > "$scratch/tenon-rpc.service"
	exposed 20 "$scratch/tenon-rpc.service"
}

reaches_devices()
{
	for node in drm accel nvidia dma_heap; do
		grep -q -x "DeviceAllow=char-$node rw" "$units/tenon-rpc.service" || { echo "$node"; return 1; }
	done
}

knows_the_options()
{
	words=$(sed -n 's,^ExecStart=/usr/bin/tenon \(.*\) \$TENON_RPC_OPTIONS$,\1,p' "$units/tenon-rpc.service")
	[ -n "$words" ] && "$TENON_COMMAND" $words --help > "$scratch/help" 2>&1 || { cat "$scratch/help"; return 1; }
}

# whatever groups this machine has
helps_without_the_group()
{
	"$TENON_COMMAND" rpc serve --allow-group no-such-group --help > "$scratch/help" 2>&1 || { cat "$scratch/help"; return 1; }
}

names_the_group()
{
	timeout 300 "$TENON_COMMAND" rpc serve --allow-group no-such-group --listen "unix:$scratch/socket" > "$scratch/words" 2>&1
	[ $? -eq 2 ] && grep -q no-such-group "$scratch/words" || { cat "$scratch/words"; return 1; }
}

it "systemd reads both units and has no complaint" not verified "$units"
it "systemd would complain about a wrong value" complains
it "the exposure is at most 2.0" is_safe
it "without its restrictions it would be more" is_not_always_safe
it "nodes of accelerators are open to the service" reaches_devices
if [ -x "$TENON_COMMAND" ] && grep -qs '^CONFIG_REMOTE=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "the command knows the options of the service" knows_the_options
	it "it explains them where the group does not exist" helps_without_the_group
	it "and serves nobody there, with the group in its message" names_the_group
fi
finish
