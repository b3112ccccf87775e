/* SPDX-License-Identifier: MIT */
/* Run the firmware on a thread of this process. */
#ifndef FIRMWARE_SIM_SIM_H
#define FIRMWARE_SIM_SIM_H

/*
 * The firmware's core on a thread of this process, with eventfds for doorbell and interrupt. The device's
 * addresses are those of the process. It has no timer: a function that does not return keeps the thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim;

/**
 * sim_start - boot the firmware on a thread
 * @window: its memory; must live until sim_stop() has said 0
 * @size: bytes, more than MORTISE_SHARED_OFFSET
 * @look_ns: look for work so often while asleep, for hosts in other processes, which have no doorbell; 0: only the
 *	doorbell wakes it
 * @out: the simulator
 *
 * Return: 0; -TENON_E_NOMEM, -TENON_E_IO.
 */
int sim_start(void *window, size_t size, uint64_t look_ns, struct sim **out);

/** sim_doorbell - wake it; any thread */
void sim_doorbell(struct sim *sim);

/** sim_await_interrupt - sleep until it interrupts, or @deadline (CLOCK_MONOTONIC) passes */
void sim_await_interrupt(struct sim *sim, uint64_t deadline);

/** sim_freeze - stand still at the next place where the core looks up, or go on; waits a second for it at most */
void sim_freeze(struct sim *sim, bool frozen);

/** sim_kill - end the thread at the next place where the core looks up; waits a second for it at most */
void sim_kill(struct sim *sim);

/** sim_is_running - false once the thread was killed or shut down */
bool sim_is_running(struct sim *sim);

/**
 * sim_stop - kill, wait for the thread for a second, and free the simulator
 *
 * Return: 0; -TENON_E_TIMEOUT when the thread is inside a function that does not return: it keeps the
 *	simulator and goes on using the window.
 */
int sim_stop(struct sim *sim);

/** sim_forget - in a child of fork(): free what the parent's simulator costs here */
void sim_forget(struct sim *sim);

#endif /* FIRMWARE_SIM_SIM_H */
