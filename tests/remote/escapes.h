/* SPDX-License-Identifier: MIT */
/*
 * The list of ways out of a session's sandbox, each with the part that has to stop it: ESCAPE(name, part).
 *
 * The function "escape" of escapes.so tries one of them by its number, and returns the errno that stopped it, or 0 if
 * it succeeded. The parts are FILES (Landlock), CALLS (seccomp) and SESSION (how the server starts the process).
 */
#ifndef TESTS_REMOTE_ESCAPES_H
#define TESTS_REMOTE_ESCAPES_H

#define ESCAPES(ESCAPE)                                                                            \
	/* the terminal and the files of the operator */                                           \
	ESCAPE(types_into_the_terminal, CALLS)                                                     \
	ESCAPE(types_with_a_long_number, CALLS)                                                    \
	ESCAPE(pastes_into_the_terminal, CALLS)                                                    \
	ESCAPE(sets_the_terminal, CALLS)                                                           \
	ESCAPE(takes_a_terminal, CALLS)                                                            \
	ESCAPE(has_a_terminal, SESSION)                                                            \
	ESCAPE(has_a_controlling_terminal, SESSION)                                                \
	ESCAPE(has_files_from_before, SESSION)                                                     \
	ESCAPE(reads_a_token_in_the_environment, SESSION)                                          \
	ESCAPE(reads_a_token_in_memory, SESSION)                                                   \
	ESCAPE(truncates_the_log, SESSION)                                                         \
	/* files outside, by what Landlock governs */                                              \
	ESCAPE(reads_outside, FILES)                                                               \
	ESCAPE(writes_outside, FILES)                                                              \
	ESCAPE(creates_outside, FILES)                                                             \
	ESCAPE(lists_outside, FILES)                                                               \
	ESCAPE(lists_the_cache, FILES)                                                             \
	ESCAPE(removes_outside, FILES)                                                             \
	ESCAPE(renames_outside, FILES)                                                             \
	ESCAPE(links_outside, FILES)                                                               \
	ESCAPE(reads_through_a_link, FILES)                                                        \
	ESCAPE(reads_passwords, FILES)                                                             \
	ESCAPE(lists_the_configuration, FILES)                                                     \
	ESCAPE(reads_keys_of_services, FILES)                                                      \
	ESCAPE(lists_what_the_kernel_lets_root_debug, FILES)                                       \
	ESCAPE(makes_shared_memory, FILES)                                                         \
	ESCAPE(reads_memory_of_the_server, FILES)                                                  \
	ESCAPE(reads_environment_of_the_server, FILES)                                             \
	ESCAPE(opens_a_descriptor_of_the_server, FILES)                                            \
	/* and by what it does not govern, in all or in its first versions */                      \
	ESCAPE(truncates_outside, CALLS)                                                           \
	ESCAPE(truncates_while_it_opens_for_reading, CALLS)                                        \
	ESCAPE(opens_for_neither, CALLS)                                                           \
	ESCAPE(changes_a_mode, CALLS)                                                              \
	ESCAPE(changes_a_mode_at, CALLS)                                                           \
	ESCAPE(changes_a_mode_of_a_descriptor, CALLS)                                              \
	ESCAPE(changes_a_mode_newly, CALLS)                                                        \
	ESCAPE(changes_an_owner, CALLS)                                                            \
	ESCAPE(changes_an_owner_of_a_descriptor, CALLS)                                            \
	ESCAPE(changes_times, CALLS)                                                               \
	ESCAPE(changes_times_of_a_descriptor, CALLS)                                               \
	ESCAPE(sets_an_attribute, CALLS)                                                           \
	ESCAPE(sets_an_attribute_of_a_descriptor, CALLS)                                           \
	ESCAPE(removes_an_attribute, CALLS)                                                        \
	ESCAPE(sets_flags_of_a_file, CALLS)                                                        \
	ESCAPE(sets_a_project_of_a_file, CALLS)                                                    \
	ESCAPE(makes_a_node, CALLS)                                                                \
	ESCAPE(opens_by_handle, CALLS)                                                             \
	ESCAPE(watches_files, CALLS)                                                               \
	ESCAPE(changes_the_root, CALLS)                                                            \
	ESCAPE(mounts, CALLS)                                                                      \
	ESCAPE(mounts_newly, CALLS)                                                                \
	/* sockets */                                                                              \
	ESCAPE(connects_to_a_socket, CALLS)                                                        \
	ESCAPE(connects_to_an_abstract_socket, CALLS)                                              \
	ESCAPE(sends_to_a_socket, CALLS)                                                           \
	ESCAPE(sends_to_a_socket_from_a_pair, CALLS)                                               \
	ESCAPE(opens_the_network, CALLS)                                                           \
	ESCAPE(opens_the_network_with_a_long_number, CALLS)                                        \
	ESCAPE(opens_netlink, CALLS)                                                               \
	ESCAPE(opens_the_host_of_a_machine, CALLS)                                                 \
	ESCAPE(opens_a_packet_socket, CALLS)                                                       \
	ESCAPE(opens_the_kernels_ciphers, CALLS)                                                   \
	ESCAPE(dials_on_the_clients_connection, CALLS)                                             \
	ESCAPE(dials_fast_on_the_clients_connection, CALLS)                                        \
	ESCAPE(loads_a_filter_for_a_socket, CALLS)                                                 \
	/* other processes */                                                                      \
	ESCAPE(signals_the_server, CALLS)                                                          \
	ESCAPE(signals_all, CALLS)                                                                 \
	ESCAPE(signals_a_thread_of_the_server, CALLS)                                              \
	ESCAPE(signals_a_task, CALLS)                                                              \
	ESCAPE(queues_a_signal, CALLS)                                                             \
	ESCAPE(has_a_signal_sent, CALLS)                                                           \
	ESCAPE(has_a_signal_sent_newly, CALLS)                                                     \
	ESCAPE(chooses_a_signal, CALLS)                                                            \
	ESCAPE(has_signals_sent_for_input, CALLS)                                                  \
	ESCAPE(has_signals_sent_by_ioctl, CALLS)                                                   \
	ESCAPE(chooses_a_receiver_by_ioctl, CALLS)                                                 \
	ESCAPE(leases_a_file, CALLS)                                                               \
	ESCAPE(outlives_the_server, CALLS)                                                         \
	ESCAPE(traces_the_server, CALLS)                                                           \
	ESCAPE(lets_others_trace, CALLS)                                                           \
	ESCAPE(reads_of_the_server, CALLS)                                                         \
	ESCAPE(writes_to_the_server, CALLS)                                                        \
	ESCAPE(compares_with_the_server, CALLS)                                                    \
	ESCAPE(refers_to_the_server, CALLS)                                                        \
	ESCAPE(advises_the_server, CALLS)                                                          \
	ESCAPE(sets_a_priority, CALLS)                                                             \
	ESCAPE(sets_priorities_of_the_user, CALLS)                                                 \
	ESCAPE(sets_an_io_priority, CALLS)                                                         \
	ESCAPE(pins_the_server, CALLS)                                                             \
	ESCAPE(schedules_the_server, CALLS)                                                        \
	ESCAPE(schedules_the_server_newly, CALLS)                                                  \
	ESCAPE(limits_the_server, CALLS)                                                           \
	ESCAPE(reads_limits_of_the_server, CALLS)                                                  \
	ESCAPE(moves_pages_of_the_server, CALLS)                                                   \
	ESCAPE(shares_a_core_with_the_server, CALLS)                                               \
	ESCAPE(leaves_its_group, CALLS)                                                            \
	ESCAPE(leaves_its_session, CALLS)                                                          \
	ESCAPE(makes_a_namespace, CALLS)                                                           \
	ESCAPE(makes_a_namespace_of_itself, CALLS)                                                 \
	ESCAPE(makes_a_namespace_newly, CALLS)                                                     \
	ESCAPE(enters_a_namespace, CALLS)                                                          \
	ESCAPE(gives_the_server_a_child, CALLS)                                                    \
	/* what outlives the session */                                                            \
	ESCAPE(makes_a_segment, CALLS)                                                             \
	ESCAPE(makes_a_queue, CALLS)                                                               \
	ESCAPE(makes_semaphores, CALLS)                                                            \
	ESCAPE(makes_a_named_queue, CALLS)                                                         \
	ESCAPE(stores_a_key, CALLS)                                                                \
	/* the kernel */                                                                           \
	ESCAPE(rings_the_kernel, CALLS)                                                            \
	ESCAPE(handles_faults, CALLS)                                                              \
	ESCAPE(loads_a_program, CALLS)                                                             \
	ESCAPE(counts_events, CALLS)                                                               \
	ESCAPE(moves_its_break, CALLS)                                                             \
	ESCAPE(becomes_another_machine, CALLS)                                                     \
	ESCAPE(calls_as_x32, CALLS)                                                                \
	ESCAPE(splices, CALLS)                                                                     \
	ESCAPE(submits_old_io, CALLS)                                                              \
	ESCAPE(sets_the_clock, CALLS)                                                              \
	ESCAPE(reads_the_kernels_log, CALLS)                                                       \
	ESCAPE(sets_a_quota, CALLS)                                                                \
	ESCAPE(names_the_machine, CALLS)                                                           \
	ESCAPE(adds_swap, CALLS)                                                                   \
	ESCAPE(loads_a_module, CALLS)                                                              \
	ESCAPE(asks_for_ports, CALLS)                                                              \
	ESCAPE(changes_its_user, CALLS)

#endif /* TESTS_REMOTE_ESCAPES_H */
