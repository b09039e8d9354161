/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake of two ends (runtime/net/ofi_peer.c) over libfabric's providers net and tcp. Both
 * connect whenever they have something to send, and an end has one connection at a time. Where two
 * requests cross, that of end 1 is to stay. A provider first reads what has come from all sockets,
 * then it handles the events that this has made, and sends only after that. So it may have read
 * that the peer accepts its request, and handle the peer's own, older one before it notes with
 * which process it is connected. It compares that with the process of some earlier peer (is_stale),
 * and replaces the connection: all that is on its way there is lost, and was a success.
 *
 * Shows that no message of the ends is lost or fails, and that all come.
 *
 * Variants, each with an error:
 *   NO_ASK     an end sends when it has a connection
 *   ASKED      it also sends when it was asked
 *   ASK_ONCE   it asks once */

#define CONNECTIONS 6
#define NONE 255
#define NUM 2 /* messages of each end */

mtype = { IDLE, CONNECTING, CONNECTED };          /* states of an end */
mtype = { ACCEPT, REJECT };                       /* answers to requests */
mtype = { REQUEST, ACCEPTED, SHUTDOWN };          /* events */
mtype = { ASK, ANSWER, ANSWER_AND_ASK, MESSAGE }; /* what is sent */

byte num_connections;
chan requests[2] = [CONNECTIONS] of { byte };
mtype answer[CONNECTIONS];
bool closed[CONNECTIONS * 2]; /* by each end */
chan to_0[CONNECTIONS] = [5] of { mtype };
chan to_1[CONNECTIONS] = [5] of { mtype };
byte num_got[2];

inline put(what)
{
    /* What goes where the other end has closed is a success, too, or fails. */
    if
    :: closed[current * 2 + 1 - me] -> assert(what != MESSAGE)
    :: else ->
        if
        :: me == 0 -> to_1[current] ! what
        :: else -> to_0[current] ! what
        fi
    fi
}

inline throw_away(from)
{
    do
    :: from ? what -> assert(what != MESSAGE)
    :: empty(from) -> break
    od
}

inline close_current()
{
    closed[current * 2 + me] = true;
    if
    :: me == 0 -> throw_away(to_0[current])
    :: else -> throw_away(to_1[current])
    fi
}

inline take()
{
    if
    :: what == ASK || what == ANSWER_AND_ASK -> owes = true
    :: else
    fi;
    if
    :: what == ANSWER || what == ANSWER_AND_ASK -> is_met = true
#ifdef ASKED
    :: what == ASK -> is_met = true
#endif
    :: what == MESSAGE -> num_got[me]++
    :: else
    fi
}

inline accept()
{
    is_stale = false;
    current = c;
    state = CONNECTED;
    answer[c] = ACCEPT
}

proctype side(bit me)
{
    chan events = [CONNECTIONS] of { mtype, byte };
    mtype state = IDLE, event, what;
    byte current = NONE, c, num_sent, num_tries;
    bool is_stale = true, is_met, has_asked, has_asked_early, owes;
#ifdef NO_ASK
    is_met = true;
#endif
end:
    do
    :: atomic { empty(events) && state == IDLE && num_sent < NUM &&
                (num_tries < 2 || timeout) ->
        num_tries++;
        assert(num_connections < CONNECTIONS);
        current = num_connections;
        num_connections++;
        requests[1 - me] ! current;
        state = CONNECTING }

    /* Reading. */
    :: atomic { requests[me] ? c -> events ! REQUEST, c; c = 0 }
    :: atomic { state == CONNECTING && answer[current] == ACCEPT ->
        state = CONNECTED;
        events ! ACCEPTED, current }
    :: atomic { state == CONNECTING && answer[current] == REJECT ->
        closed[current * 2 + me] = true;
        state = IDLE;
        current = NONE }
    :: atomic { state == CONNECTED && me == 0 && nempty(to_0[current]) ->
        to_0[current] ? what;
        take() }
    :: atomic { state == CONNECTED && me == 1 && nempty(to_1[current]) ->
        to_1[current] ? what;
        take() }
    :: atomic { state == CONNECTED && closed[current * 2 + 1 - me] &&
                !events ?? [SHUTDOWN, eval(current)] -> events ! SHUTDOWN, current }

    /* Handling. */
    :: atomic { events ? event, c ->
        if
        :: event == REQUEST && state == IDLE -> accept()
        :: event == REQUEST && state == CONNECTING && me == 0 -> close_current(); accept()
        :: event == REQUEST && state == CONNECTING && me == 1 -> answer[c] = REJECT
        :: event == REQUEST && state == CONNECTED && is_stale -> close_current(); accept()
        :: event == REQUEST && state == CONNECTED && !is_stale -> answer[c] = REJECT
        :: event == ACCEPTED && current == c -> is_stale = false
        :: event == SHUTDOWN && current == c ->
            close_current();
            state = IDLE;
            current = NONE
        :: else
        fi; c = 0 }

    /* Sending. */
    :: atomic { empty(events) && owes ->
        owes = false;
        if
        :: state == CONNECTED && !is_met && !has_asked -> has_asked = true; put(ANSWER_AND_ASK)
        :: state == CONNECTED && (is_met || has_asked) -> put(ANSWER)
        :: else
        fi }
    :: atomic { empty(events) && state == CONNECTED && !is_met && !has_asked ->
        has_asked = true;
        put(ASK) }
#ifndef ASK_ONCE
    :: atomic { empty(events) && state == CONNECTED && !is_met && has_asked && !has_asked_early ->
        has_asked_early = true;
        put(ASK) }
    :: atomic { timeout && empty(events) && state == CONNECTED && !is_met && has_asked -> put(ASK) }
#endif
    :: atomic { empty(events) && state == CONNECTED && is_met && num_sent < NUM ->
        num_sent++;
        put(MESSAGE) }
    :: num_got[me] == NUM && num_sent == NUM && empty(events) -> break
    od
}

init
{
    atomic { run side(0); run side(1) }
    (num_got[0] == NUM && num_got[1] == NUM)
}
