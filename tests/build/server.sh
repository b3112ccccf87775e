# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by scripts that start servers, which choose their port.

# the port in a log: a line that is not complete yet does not count
told_port()
{
	while read -r line; do
		case $line in
		*"listening on 127.0.0.1:"*)
			line=${line##*listening on 127.0.0.1:}
			echo "${line%%[!0-9]*}"
			return
			;;
		esac
	done
}

# port_of LOG PROCESS: set port to what the server tells in LOG
port_of()
{
	for try in $(seq 1200); do
		port=$(cat "$1" 2> "$scratch/why" | told_port)
		[ -z "$port" ] || return 0
		kill -0 "$2" 2> "$scratch/why" || break
		sleep 0.1
	done
	sed 's/^/# /' "$1"
	return 1
}
