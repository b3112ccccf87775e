/* SPDX-License-Identifier: MIT */
/*
 * The ring's protocol (include/tenon/uapi/mortise.h) between two cores of weak memory order, for Spin.
 *
 * Memory is that of C11's release and acquire: each location has the history of what was written to it, each
 * core a view (the oldest write of each location that it may still read). A read takes any write that is not older than
 * the view. A release write carries its core's view; an acquire read joins it. Full fences join a view that all share.
 * So stores and loads of both cores may pass each other wherever nothing orders them.
 *
 * The host publishes PACKETS packets through a ring of two slots and waits for each; the device runs them, and both
 * sleep whenever they have nothing to do: a wake-up that is lost is a deadlock. WEAK=n takes one order away, and
 * the checker has to find what breaks (ring_model.sh); 0 is the protocol as it is. LONGEST is never reached by as few
 * packets: a core that reached it would stand still, which is found as a deadlock.
 */
#ifndef WEAK
#define WEAK 0
#endif
#ifndef PACKETS
#define PACKETS 3
#endif

#define LOCATIONS 8
#define HEAD	  0	/* host.head */
#define DONE	  1	/* completion.done */
#define SLEEPING  2	/* completion.sleeping */
#define WAITING	  3	/* host.waiting */
#define WANTED	  4	/* host.wanted */
#define SLOT	  5	/* and 6: packets in the ring */
#define OUT	  7	/* what packets write to memory */

#define HOST	0
#define DEVICE	1
#define LONGEST 14	/* writes to a location */

byte value[112];	/* LOCATIONS * LONGEST: what was written */
byte carried[896];	/* ... * LOCATIONS: the view that it carries */
byte last[LOCATIONS];	/* newest write of a location */
byte view[16];		/* 2 * LOCATIONS */
byte shared[LOCATIONS];	/* the view that full fences join */
bool bell, interrupt;	/* events: they are not lost, and wake once */
byte i_;

#define AT(location, time)    ((location) * LONGEST + (time))
#define VIEW(core, location)  view[(core) * LOCATIONS + (location)]
#define JOIN(a, b)	      a = ((a) < (b) -> (b) : (a))

/* write v; a release carries what the core knows */
inline store(core, location, v, release)
{
	d_step {
		last[location] < LONGEST - 1;
		last[location]++;
		value[AT(location, last[location])] = v;
		VIEW(core, location) = last[location];
		for (i_ : 0 .. LOCATIONS - 1) {
			carried[AT(location, last[location]) * LOCATIONS + i_] =
				(release -> VIEW(core, i_) : 0);
		}
		carried[AT(location, last[location]) * LOCATIONS + location] = last[location];
		i_ = 0;
	}
}

/* read into v any write that the core may still see; an acquire joins what that carries */
inline load(core, location, v, time, acquire)
{
	atomic {
		time = VIEW(core, location);
		do
		:: time < last[location] -> time++
		:: break
		od;
		v = value[AT(location, time)];
		VIEW(core, location) = time;
		if
		:: acquire ->
			for (i_ : 0 .. LOCATIONS - 1) {
				JOIN(VIEW(core, i_), carried[AT(location, time) * LOCATIONS + i_]);
			}
			i_ = 0
		:: else
		fi;
		time = 0
	}
}

inline fence(core, there)
{
	d_step {
		if
		:: there ->
			for (i_ : 0 .. LOCATIONS - 1) {
				JOIN(VIEW(core, i_), shared[i_]);
				shared[i_] = VIEW(core, i_);
			}
			i_ = 0
		:: else
		fi
	}
}

/* ring_publish(): head, fence, look whether the device sleeps */
inline publish(n)
{
	store(HOST, HEAD, n, (WEAK != 1));
	fence(HOST, (WEAK != 5));
	load(HOST, SLEEPING, seen, time, false);
	if
	:: seen -> bell = true
	:: else
	fi
}

/* ring_wait(): until the device is done with n */
inline wait_for(n)
{
	do
	:: load(HOST, DONE, done, time, (WEAK != 4));
	   if
	   :: done >= n -> break
	   :: else
	   fi;
	   nonce++;
	   store(HOST, WANTED, n, false);
	   store(HOST, WAITING, nonce, (WEAK != 9));
	   fence(HOST, (WEAK != 8));
	   load(HOST, DONE, done, time, (WEAK != 4));
	   if
	   :: done < n -> interrupt -> interrupt = false
	   :: else
	   fi;
	   store(HOST, WAITING, 0, false)
	od;
	seen = 0
}

active proctype host()
{
	byte n = 0, done, seen, time, nonce, out;

	do
	:: n < PACKETS ->
		/* a slot is written again once the packet in it is complete */
		if
		:: n >= 2 && (WEAK != 9) -> wait_for(n - 1)
		:: else
		fi;
		store(HOST, SLOT + n % 2, n + 1, false);
		n++;
		publish(n);
	:: else -> break
	od;
	wait_for(PACKETS);
	load(HOST, OUT, out, time, false);
	assert(out == PACKETS)
}

active proctype device()
{
	byte at = 0, head, packet, time, waiting, wanted, answered;

	do
	:: at < PACKETS ->
		load(DEVICE, HEAD, head, time, (WEAK != 2));
		if
		:: head == at ->
			store(DEVICE, SLEEPING, 1, false);
			fence(DEVICE, (WEAK != 6));
			load(DEVICE, HEAD, head, time, (WEAK != 2));
			if
			:: head == at -> bell -> bell = false
			:: else
			fi;
			store(DEVICE, SLEEPING, 0, false)
		:: else ->
			load(DEVICE, SLOT + at % 2, packet, time, false);
			assert(packet == at + 1);
			store(DEVICE, OUT, packet, false);
			at++;
			store(DEVICE, DONE, at, (WEAK != 3));
			fence(DEVICE, (WEAK != 7));
			load(DEVICE, WAITING, waiting, time, true);
			if
			:: waiting && waiting != answered ->
				load(DEVICE, WANTED, wanted, time, false);
				if
				:: at >= wanted -> answered = waiting; interrupt = true
				:: else
				fi
			:: else
			fi;
			head = 0; packet = 0; waiting = 0; wanted = 0
		fi
	:: else -> break
	od
}
