/* SPDX-License-Identifier: MIT */
/* Help of "tenon rpc serve", which tenon-rpc-server prints too. */
#ifndef TOOLS_RPC_VERB_RPC_SERVE_HELP_H
#define TOOLS_RPC_VERB_RPC_SERVE_HELP_H

#define RPC_SERVE_OPTIONS                                                                          \
	"  --listen ADDRESS       HOST:PORT, [HOST]:PORT or unix:PATH (127.0.0.1:9090)\n"          \
	"  --stdio                serve the client on standard input and output, and end\n"        \
	"  --key KEY              clients must ask for this key\n"                                 \
	"  --tracker HOST:PORT    offer sessions to a tracker, under the key\n"                    \
	"  --advertise HOST[:PORT]  where the tracker's clients find this server\n"                \
	"  --health-check COMMAND   offer no session while this fails\n"                           \
	"  --proxy HOST:PORT      wait for clients at a proxy\n"                                   \
	"  --sessions N           sessions at a time; further clients wait (4; 1 with a "          \
	"tracker)\n"                                                                               \
	"  --session-timeout S    end a session after S seconds (never)\n"                         \
	"  --request-timeout S    end a session whose request takes longer (600)\n"                \
	"  --folder DIR           folder for the files of sessions (TMPDIR, or /tmp)\n"            \
	"  --folder-size MIB      what a session may have there (1024)\n"                          \
	"  --folder-in-memory     keep these files in memory, where the size holds exactly\n"      \
	"  --cache-size MIB       uploads that later sessions need not repeat (256; 0 for none)\n" \
	"  --memory MIB           memory of a session (half of the machine's)\n"                   \
	"  --processes N          processes of a session (1024)\n"                                 \
	"  --packet-size MIB      largest request (1024)\n"                                        \
	"  --no-native-code       load device programs only, no shared objects\n"                  \
	"  --allow-read PATH      let sessions read a file or folder\n"                            \
	"  --allow-write PATH     let sessions write a file or folder\n"                           \
	"  --allow-socket PATH    let sessions connect to a Unix socket\n"                         \
	"  --allow-user NAME      accept this user on Unix sockets; --allow-group NAME a group\n"  \
	"  --secret-file FILE     clients must prove that they know this secret\n"                 \
	"  --tls-certificate FILE, --tls-key FILE  speak TLS\n"                                    \
	"  --trust-network        accept addresses that other machines can reach\n"                \
	"  --sandbox-learn        let sessions make every system call, and name those not "        \
	"allowed\n"                                                                                \
	"  --no-sandbox           let uploaded code do all that this user can\n"

#define RPC_SERVE_WARNING                                                                          \
	"An uploaded shared object is native code: everyone who can connect can run programs "     \
	"here, within\n"                                                                           \
	"the limits of the session's sandbox. TVM's clients prove nothing; those of Tenon can "    \
	"prove a secret.\n"

#endif /* TOOLS_RPC_VERB_RPC_SERVE_HELP_H */
