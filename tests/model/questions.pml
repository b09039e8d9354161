/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of a call that waits for long (collectives/comm/questions.h): it asks a site how it
 * stands, at any time and as often as it likes, and the site may take any time to answer. Channels
 * ask in the same way. Shows that
 *
 * - there is one question out at most, and one more for each message of the site that does not fit
 *   (such a message comes only once, so it is asked about in any case);
 * - a call that waits in vain learns of it: no question is lost for ever. Memory may be lacking.
 *
 * What happens at the site: its call fails, which it says only if it is asked; or it dies.
 *
 * Variants, each with an error:
 *   NO_MARK        the call asks though a question is out
 *   KEEP_MARK      the answer does not let it ask again
 *   MARK_UNSENT    nor does a question for which there is no memory
 *   ANSWER_NEW     the answer needs new memory, and without that there is none
 *   BAD_NEWS_ONLY  a site with which nothing is wrong does not answer
 *   NO_DEATH       a death does not end what waits */

#ifndef MISFITS
#define MISFITS 1 /* messages that do not fit */
#endif
#define MOST (1 + MISFITS)

mtype = { WAITS, FAILED };
chan questions = [MOST + 1] of { bit };
chan answers = [MOST + 1] of { mtype };
byte num_out;             /* questions without an answer */
byte lacks = 2;           /* how often memory will be lacking at most */
bool is_out;              /* the call's mark */
bool has_failed, is_dead; /* the site's */

#ifdef NO_MARK
#define MAY_ASK true
#else
#define MAY_ASK (!is_out)
#endif

inline put()
{
    num_out++;
    assert(num_out <= MOST);
    questions ! 0
}

active proctype call()
{
    mtype answer;
    byte misfits = MISFITS;
    do
    :: atomic { MAY_ASK && !is_dead -> is_out = true; put() }
    :: atomic { MAY_ASK && lacks > 0 ->
        lacks--;
#ifdef MARK_UNSENT
        is_out = true
#endif
       }
    :: atomic { misfits > 0 && !is_dead -> misfits--; put() }
    :: atomic { answers ? answer ->
        num_out--;
#ifndef KEEP_MARK
        is_out = false;
#endif
        if
        :: answer == FAILED -> break
        :: else
        fi }
#ifndef NO_DEATH
    :: is_dead -> break
#endif
    od
}

active proctype site()
{
    bool dies;
    if
    :: dies = true
    :: skip
    fi;
end:
    do
    :: atomic { questions ? _ ->
        if
        :: has_failed -> answers ! FAILED
#ifdef BAD_NEWS_ONLY
        :: else
#else
        :: else -> answers ! WAITS
#endif
        fi }
#ifdef ANSWER_NEW
    :: atomic { lacks > 0 && questions ? [_] -> lacks--; questions ? _ }
#endif
    :: !has_failed -> has_failed = true
    :: dies -> is_dead = true; break
    od
}
