/* SPDX-License-Identifier: Apache-2.0 */
/* How a loss that only one end knows ends (proc/process.c, launch/launcher.c,
 * cohortrun/job_accusations.c).
 *
 * There are cohortrun and two localities on different hosts. Each program sends the other one a
 * message, may wait for that of the other, and returns. One of these happens at any time: the link
 * from one to the other is cut, and the message that is under way is lost, which one of the two
 * notices; or a locality has no memory for a message that comes; or one of the two sends
 * nonsense, or both do, and may be cut off when it is read. Who notices accuses: the other end of a
 * lost link, the sender of nonsense, or itself if it has no memory. After a while cohortrun gives
 * one of the two up, and tells its death when it has ended; or, if the job does not keep going, it
 * tells the death at once, and ends what is left after the grace. When all programs have returned,
 * the drain asks for counts until as many messages were received as sent, without those to and from
 * the dead.
 *
 * Checked is that the job ends: nobody waits for ever, neither a program for a message nor
 * cohortrun for counts; that without a loss nobody is accused, or dies; that who is given up has
 * sent nonsense, if anybody has; and that of two who accuse each other one is given up.
 *
 * Simplifications: one program in each locality; in a script the next one begins anew, and what was
 * said of the former is of no matter (is_moot). The channels to and from cohortrun are reliable, or
 * it takes their end for that of the locality. Survivors of a job that does not keep going do not
 * end before the grace is over, and in it all is said that belongs together.
 *
 * Variants that have an error, which spin must find:
 *   BELIEVES      who notices takes the other for dead, and tells nobody
 *   NO_MEMORY     an accusation for which there is no memory is not made
 *   RUNNING_ONLY  cohortrun takes no accusation of one whose program has returned
 *   NO_KILL       cohortrun waits for the accused one to end by itself
 *   NO_RESTART    after a death the drain goes on with the round that has begun
 *   COUNTS_DEAD   the counts have the messages to and from the dead
 *   BY_RANK       of two hosts the higher one is given up, also if the other one is at fault
 *   LINK_ALONE    what is said of the link counts, also of one that has sent nonsense
 *   BOTH          who is accused is given up, also if its accuser was given up before */
#define OTHER (1 - me)

mtype = {FINISHED, COUNTS, ACCUSE, BYE, COUNT, EXIT, DIED};
mtype = {MEMBER, RETURNED, RELEASED, LEFT, DEAD};
mtype = {NOTHING, LOST, FAULT};

/* what; of an ACCUSE who, and whether it is at fault; of a COUNT and its answer the round, and the
 * numbers sent and received */
chan up[2] = [5] of {mtype, byte, byte, byte};
chan down[2] = [5] of {mtype, byte};
chan link[2] = [1] of {bit}; /* from this locality to the other one; 0: nonsense */
bit is_cut[2];               /* the same */
bit lossy = 1;               /* the loss is still to come, perhaps */
bit notices[2];              /* what it has lost is its link; not noticed yet */
bit is_bad[2];               /* it sends nonsense */
bit is_unsaid[2];            /* its nonsense; cohortrun does not know of it yet */
bit is_killed[2], has_ended[2];
bit keeps_going;

proctype locality(byte me)
{
    bit has_sent, waits, has_got, has_finished, other_dead, is_busy;
    byte sent, received, round;
    if
    :: waits = 1
    :: waits = 0
    fi;
    do
    :: atomic {
           !has_sent && !other_dead && !is_cut[me] ->
           link[me]!(1 - is_bad[me]); is_unsaid[me] = is_bad[me]; has_sent = 1; sent++
       }
    /* What can't be sent stays here until the launcher has told the death. */
    :: !has_sent && !other_dead && is_cut[me] -> has_sent = 1; is_busy = 1
    :: !has_sent && other_dead -> has_sent = 1
    :: atomic { link[OTHER]?[1] -> link[OTHER]?_; received++; has_got = 1 }
    :: atomic {
           link[OTHER]?[0] -> link[OTHER]?_; received++;
           if
           :: notices[OTHER] = 1
           :: true
           fi
       };
#ifndef BELIEVES
        up[me]!ACCUSE(OTHER, 1, 0)
#else
        other_dead = 1; is_busy = 0
#endif
    :: atomic { /* there is no memory for it */
           lossy && nempty(link[OTHER]) -> link[OTHER]?_; received++; lossy = 0
       };
#ifdef BELIEVES
        other_dead = 1; is_busy = 0
#else
#ifndef NO_MEMORY
        up[me]!ACCUSE(me, 1, 0)
#endif
#endif
    :: notices[me] ->
        notices[me] = 0;
#ifdef BELIEVES
        other_dead = 1; is_busy = 0
#else
        if
        :: up[me]!ACCUSE(OTHER, 0, 0)
#ifdef NO_MEMORY
        :: true
#else
        :: up[me]!ACCUSE(me, 1, 0) /* there is no memory for the former */
#endif
        fi
#endif
    :: has_sent && !has_finished && (!waits || has_got || other_dead) ->
        has_finished = 1; up[me]!FINISHED(0, 0, 0)
    :: down[me]?COUNT(round) ->
        if
#ifndef COUNTS_DEAD
        :: other_dead -> up[me]!COUNTS(round, 0, 0)
        :: else ->
#else
        :: true ->
#endif
           if
           :: is_busy -> up[me]!COUNTS(round, sent + 1, received)
           :: else -> up[me]!COUNTS(round, sent, received)
           fi
        fi;
        round = 0
    :: down[me]?DIED(_) -> other_dead = 1; is_busy = 0
    :: down[me]?EXIT(_) -> up[me]!BYE(0, 0, 0); break
    :: is_killed[me] -> break
    od;
    has_ended[me] = 1
}

/* Cuts a link, lets one send nonsense, or both, or leaves all as it is. */
proctype fate()
{
    byte from, who;
    if
    :: atomic {
           lossy -> lossy = 0;
           if
           :: from = 0
           :: from = 1
           fi;
           if
           :: who = 0
           :: who = 1
           fi;
           if
           :: is_cut[from] = 1; notices[who] = 1;
              if
              :: link[from]?_
              :: empty(link[from])
              fi
           :: is_bad[from] = 1; is_bad[who] = 1
           fi;
           from = 0; who = 0 /* fewer states */
       }
    :: true
    fi
}

mtype stage[2] = MEMBER;
mtype says[2] = NOTHING; /* of the other one */
bit gives_up[2];         /* itself */
bit is_broken;

#define IS_MEMBER(who) (stage[who] == MEMBER || stage[who] == RETURNED)
#ifdef BOTH
#define IS_OPEN(by) (says[by] != NOTHING && !is_broken && IS_MEMBER(0) && IS_MEMBER(1))
#else
#define IS_OPEN(by) (says[by] != NOTHING && !is_broken && IS_MEMBER(0) && IS_MEMBER(1) && \
                     !is_killed[0] && !is_killed[1])
#endif
#define IS_SAID(by) ((!is_unsaid[by] || has_ended[1 - by]) && \
                     (!is_unsaid[1 - by] || has_ended[by]))
#define HAS_RETURNED(who) (stage[who] == RETURNED || stage[who] == DEAD)

/* Without the values that are not needed any more, there are fewer states. */
#define NEXT who = 0; from = 0; sent = 0; received = 0; i = 0; goto again

proctype cohortrun()
{
    byte who, from, sent, received, sum_sent, sum_received, num_answers, round, i;
    bit starts;
again:
    do
    :: atomic { !is_broken && starts -> goto count }
    :: atomic { nempty(up[0]) -> from = 0; goto message }
    :: atomic { nempty(up[1]) -> from = 1; goto message }
    :: atomic { !is_broken && IS_MEMBER(0) && gives_up[0] -> who = 0; goto doomed }
    :: atomic { !is_broken && IS_MEMBER(1) && gives_up[1] -> who = 1; goto doomed }
    :: atomic { IS_OPEN(0) && IS_SAID(0) -> from = 0; goto decide }
    :: atomic { IS_OPEN(1) && IS_SAID(1) -> from = 1; goto decide }
    :: atomic { IS_MEMBER(0) && has_ended[0] && empty(up[0]) -> who = 0; goto died }
    :: atomic { IS_MEMBER(1) && has_ended[1] && empty(up[1]) -> who = 1; goto died }
    :: is_broken && !is_killed[0] -> is_killed[0] = 1 /* the grace is over */
    :: is_broken && !is_killed[1] -> is_killed[1] = 1
    :: has_ended[0] && has_ended[1] && !IS_MEMBER(0) && !IS_MEMBER(1) -> goto end
    od;
count: /* a round of the drain */
    atomic {
        starts = 0; round = 1 - round; num_answers = 0; sum_sent = 0; sum_received = 0;
        for (i : 0 .. 1) {
            if
            :: stage[i] == RETURNED -> down[i]!COUNT(round); num_answers++
            :: else
            fi
        }
        NEXT
    }
message:
    atomic {
        if
        :: up[from]?FINISHED(_, _, _) ->
            if
            :: stage[from] == MEMBER -> stage[from] = RETURNED; starts = HAS_RETURNED(1 - from)
            :: else
            fi
        :: up[from]?COUNTS(who, sent, received) ->
            if
            :: who != round || is_broken || num_answers == 0
            :: else ->
                num_answers--; sum_sent = sum_sent + sent; sum_received = sum_received + received;
                if
                :: num_answers > 0
                :: num_answers == 0 && sum_sent == sum_received ->
                    for (i : 0 .. 1) {
                        if
                        :: stage[i] == RETURNED -> stage[i] = RELEASED; down[i]!EXIT(0)
                        :: else
                        fi
                    }
                :: else ->
                    assert(stage[1 - from] != DEAD); /* else it goes on like that for ever */
                    starts = 1
                fi
            fi
        :: up[from]?ACCUSE(who, sent, _) ->
            assert(!lossy);
            if
#ifdef RUNNING_ONLY
            :: stage[who] != MEMBER
#else
            :: !IS_MEMBER(who)
#endif
            :: else ->
                if
                :: who == from -> gives_up[who] = 1
                :: who != from && sent -> says[from] = FAULT
                :: who != from && !sent && says[from] == NOTHING -> says[from] = LOST
                :: else
                fi
            fi;
            if
            :: who != from && sent -> is_unsaid[who] = 0
            :: else
            fi
        :: up[from]?BYE(_, _, _) -> stage[from] = LEFT
        fi;
        NEXT;
    }
decide: /* of what FROM says */
    atomic {
        assert(!is_killed[0] && !is_killed[1]);
        who = 1 - from;
        if
#ifndef LINK_ALONE
        :: says[from] == LOST && says[who] == FAULT -> says[from] = NOTHING; NEXT
#endif
#ifdef BY_RANK
        :: from > who -> who = from
#else
        :: from > who && (says[from] == LOST || says[who] == FAULT) -> who = from
#endif
        :: else
        fi;
        says[from] = NOTHING;
    }
doomed:
    atomic {
        gives_up[who] = 0;
        assert((!is_bad[0] && !is_bad[1]) || is_bad[who]);
#ifndef NO_KILL
        if
        :: keeps_going -> is_killed[who] = 1; NEXT
        :: else
        fi;
#else
        NEXT;
#endif
    }
died:
    atomic {
        assert(!lossy);
        stage[who] = DEAD;
        says[0] = NOTHING;
        says[1] = NOTHING;
        gives_up[who] = 0;
        if
        :: !has_ended[1 - who] -> down[1 - who]!DIED(who)
        :: else
        fi;
        if
        :: !keeps_going -> is_broken = 1
#ifndef NO_RESTART
        :: keeps_going && stage[1 - who] == RETURNED -> starts = 1; num_answers = 0
#endif
        :: else
        fi;
        NEXT;
    }
end:
    skip
}

init
{
    atomic {
        if
        :: keeps_going = 1
        :: keeps_going = 0
        fi;
        run locality(0);
        run locality(1);
        run fate();
        run cohortrun()
    }
}
