/* SPDX-License-Identifier: MIT */
/* The values in messages (link.py has the forms), and the objects that the other process knows by number. */
#ifndef SUITE_VALUES_H
#define SUITE_VALUES_H

#include "tensors.h"

uint32_t keep(const struct tenon_value *owned);
const struct tenon_value *kept_at(uint32_t number);
void drop_kept(uint32_t number);

/* an owned value; tensors stay with the call, which releases them */
struct tenon_value get_value(struct message *m, struct call_tensors *tensors);
/* @key: by which changes of a borrowed tensor come back; 0 for none */
void put_value(struct message *m, struct call_tensors *tensors, const struct tenon_value *v,
	       uint32_t key);

#endif /* SUITE_VALUES_H */
