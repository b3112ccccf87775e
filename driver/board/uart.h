/* SPDX-License-Identifier: MIT */
/* The UART of an emulated board, used as doorbell and interrupt. */
#ifndef DRIVER_BOARD_UART_H
#define DRIVER_BOARD_UART_H

/* A byte to the socket is the doorbell, a byte from it the interrupt. */

#include <stdint.h>

/**
 * uart_connect - connect to the socket of a running emulator
 * @path: of the socket
 * @fd: receives the descriptor, close-on-exec; -1 on failure
 *
 * Return: 0; -TENON_E_DEVICE.
 */
int uart_connect(const char *path, int *fd);

/** uart_ring - send a doorbell; does not block */
void uart_ring(int fd);

/** uart_sleep - wait for an interrupt until @deadline, and take it */
void uart_sleep(int fd, uint64_t deadline);

/** uart_check - has the other side closed the socket; 0, or -TENON_E_LOST with @name in the message */
int uart_check(const char *name, int fd);

#endif /* DRIVER_BOARD_UART_H */
