/* SPDX-License-Identifier: Apache-2.0 */
/* How a site that waits for a message from any site learns that all others are gone (ask_next and
 * others_are_gone in collectives/comm/channel.c). Others set a message or none, and leave; or they
 * die, which is known here. It asks the first, in a circle, that is not known to be gone, again and
 * again, and two more for each that has left. Shows that
 *
 * - it goes on waiting while something may come: a site is gone when it says so, and what it has
 *   set is here, which may be later;
 * - it learns that all are gone, though most of them it has not asked for long.
 *
 * Variants, each with an error:
 *   ANSWER_ALONE   who has left is gone, whatever is still to come of it
 *   NO_RETURN      a round goes on where the last one has ended
 *   NO_DEATH       the dead are not passed over
 *   KEEP_MARK      who has answered is not asked again */

#ifndef OTHERS
#define OTHERS 3
#endif

chan questions[OTHERS] = [1] of { bit };
chan answers = [OTHERS] of { byte, bit };
chan messages = [OTHERS] of { byte };
byte num_set[OTHERS];                       /* an answer says so */
bool has_left[OTHERS], is_dead[OTHERS];     /* in truth; who is dead is known here */
byte num_come[OTHERS];
bool knows[OTHERS], is_out[OTHERS];
byte num_gone, num_passed;

#ifdef ANSWER_ALONE
#define IS_OVER(site) (knows[site])
#else
#define IS_OVER(site) (knows[site] && num_come[site] == num_set[site])
#endif

#ifdef NO_DEATH
#define IS_DEAD(site) false
#else
#define IS_DEAD(site) is_dead[site]
#endif

#ifdef NO_RETURN
#define BEGIN_ROUND skip
#define FIRST num_passed
#else
#define BEGIN_ROUND num_passed = num_gone
#define FIRST num_gone
#endif

inline ask_next(num)
{
    num_left = num;
    do
    :: num_left > 0 && num_passed < OTHERS ->
        if
        :: knows[num_passed] || IS_DEAD(num_passed)
        :: else ->
            if
            :: is_out[num_passed]
            :: else -> is_out[num_passed] = true; questions[num_passed] ! 0
            fi;
            num_left--
        fi;
        num_passed++
    :: else -> break
    od
}

active proctype waits()
{
    byte from, num_left;
    bit left;
    do
    :: atomic { num_gone < OTHERS && (IS_OVER(num_gone) || IS_DEAD(num_gone)) -> num_gone++ }
    :: atomic { num_gone == OTHERS -> break }
    :: atomic { FIRST < OTHERS && !knows[FIRST] && !is_out[FIRST] && !IS_DEAD(FIRST) ->
        BEGIN_ROUND;
        ask_next(1) }
    :: atomic { messages ? from -> num_come[from]++ }
    :: atomic { answers ? from, left ->
#ifndef KEEP_MARK
        is_out[from] = false;
#endif
        if
        :: left -> knows[from] = true; ask_next(2)
        :: else
        fi }
    od;
    for (from : 0 .. OTHERS - 1) {
        assert(is_dead[from] || (has_left[from] && num_come[from] == num_set[from]))
    }
}

active [OTHERS] proctype other()
{
    byte me = _pid - 1;
    if
    :: atomic { messages ! me -> num_set[me] = 1 }
    :: skip
    fi;
end:
    do
    :: atomic { questions[me] ? _ -> answers ! me, has_left[me] }
    :: !has_left[me] -> has_left[me] = true
    :: !has_left[me] -> is_dead[me] = true; break
    od
}
