# SPDX-License-Identifier: MIT
#
# Read by the scripts of this folder: OpenSSH's server on this machine, which ends with the script.

free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# As root, sshd needs a folder of the system, which its service creates. It stays: each new connection needs it, of other
# servers too.
start_server()
{
	sshd=$(command -v sshd || ls /usr/sbin/sshd 2>/dev/null)
	[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd || return
	ssh-keygen -q -t ed25519 -N '' -f "$scratch/host" && ssh-keygen -q -t ed25519 -N '' -f "$scratch/user" || return
	for attempt in 1 2 3; do
		listen_at "$(free_port)" && return
	done
	return 1
}

# Another program may take the port before the server does: then the server ends, and another port is tried.
listen_at()
{
	port=$1
	"$sshd" -D -e -f /dev/null -p "$port" -h "$scratch/host" -o ListenAddress=127.0.0.1 -o PidFile=none \
		-o StrictModes=no -o UsePAM=no -o AuthorizedKeysFile="$scratch/user.pub" > "$scratch/server.log" 2>&1 &
	server=$!
	trap 'kill $server 2> "$scratch/kill"; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
	for try in $(seq 600); do
		! grep -q '^Server listening on' "$scratch/server.log" || return 0
		kill -0 $server 2> "$scratch/kill" || return 1
		sleep 0.1
	done
	return 1
}

# has_server: start one, if there is one
has_server()
{
	[ -e "$(command -v sshd || echo /usr/sbin/sshd)" ] && command -v ssh > "$scratch/found" &&
		start_server && kill -0 $server 2> "$scratch/said"
}
