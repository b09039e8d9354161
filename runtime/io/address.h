/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_IO_ADDRESS_H
#define COHORT_RUNTIME_IO_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

/* Addresses of TCP. */

/* Room for "[ADDRESS%INTERFACE]:PORT". */
enum { COHORT__ADDRESS_BYTES = 96 };

void cohort__address_text(const struct sockaddr *address, char ret_text[COHORT__ADDRESS_BYTES]);

/* Of an address of IPv4 or IPv6. */
socklen_t cohort__address_bytes(const struct sockaddr *address);
uint16_t cohort__address_port(const struct sockaddr *address);

#endif
