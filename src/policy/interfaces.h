/* SPDX-License-Identifier: Apache-2.0 */
/* RPC interfaces of services that act for whoever asks. Also linked by the agent: no policy, no
   text. */
#ifndef CORDON_POLICY_INTERFACES_H
#define CORDON_POLICY_INTERFACES_H

#include <stdbool.h>
#include <stdint.h>

enum interface_kind { INTERFACE_ACTS = 0, INTERFACE_LOOKS, INTERFACE_NAMES };

enum { INTERFACE_ID_TEXT = 36 };

/* 01020304-0506-0708-090a-0b0c0d0e0f10 of a GUID in memory; with a zero at the end. */
void interface_text(const unsigned char id[16], char out[INTERFACE_ID_TEXT + 1]);

/* The row of interfaces.def, or -1: not restricted. */
int interface_find(const unsigned char id[16]);
enum interface_kind interface_kind_of(int row);

/* Whether a procedure of an INTERFACE_LOOKS only looks. */
bool interface_only_looks(uint32_t procedure);

#endif
