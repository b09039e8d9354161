#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that go on without the dead. Usage: survive_test.py COHORTRUN MEMBER [--far] [case...]

With --figures: only how long survivors take, with 32 localities."""
import os
import re
import signal
import sys
import time

import jobs
from jobs import Job, check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
FADING = os.path.join(os.path.dirname(MEMBER), 'fading_member')
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
FAR = '--far' in sys.argv
NUM = 4
ON_HOST = r'(?: on host [ab])?'


def run_way(way, num=NUM, *options):
    return run('-n', num, '--workers', 1, '--keep-going', *options, MEMBER, way)


def lines_of(out, rank):
    return re.findall('^%d (.*)$' % rank, out, re.M)


def check_survivors(out, victim, how):
    """What each of the others says: the half without the victim is whole."""
    lost = r'site %s is lost: locality %d .*%s' % (r'\d', victim, how)
    for rank in range(NUM):
        if rank == victim:
            continue
        half, world, later, failed, *rest, survivors = lines_of(out, rank)
        check_equal(survivors, 'survivors: fine')
        if rank < NUM // 2:
            check_equal((half, rest), ('half: fine', ['twin: fine', 'part: fine']))
        else:
            check_equal(rest, [])
            check(re.match('half: .*' + lost, half), half)
        check(re.match('world: .*' + lost, world), world)
        check(re.match('world later: .*' + lost, later), later)
        check_equal(failed, 'failed: %d' % victim)


def await_stopped(job):
    """The process that has stopped itself."""
    deadline = time.monotonic() + jobs.TIMEOUT
    while True:
        check(time.monotonic() < deadline, 'nobody stops')
        jobs.pause()
        for pid in job.processes():
            if re.search(rb'State:\s*T', jobs.read_proc(pid, 'status')):
                return pid


def check_one_dies(way, how):
    status, out, err = run_way(way)
    check(re.fullmatch(r'cohortrun: locality 3 \(pid \d+\)%s %s; 3 go on\n' % (ON_HOST, how), err),
          err)
    check_equal(status, 0)
    check_survivors(out, 3, how)


def test_killed():
    check_one_dies('kill', r'was killed by signal 9 \(Killed\)')


def test_exits():
    check_one_dies('exit', 'exited with status 3')


def test_script():
    """The program dies, and the script that has started it goes on."""
    job = Job('-n', NUM, '--workers', 1, '--keep-going', 'sh', '-c',
              '"$0" kill; test $COHORT_LOCALITY != 3 || exec sleep %d' % jobs.TIMEOUT, MEMBER)
    out = ''
    while out.count('survivors: fine') < NUM - 1:
        line = job.process.stdout.readline().decode()
        check(line, 'it ends with', out)
        out += line
    died = re.compile(r'cohortrun: locality 3 \(pid (\d+)\)%s (has lost its program .*); 3 go on\n'
                      % ON_HOST)
    line = job.process.stderr.readline().decode()
    while not died.fullmatch(line):
        check(line, 'nobody has died')
        line = job.process.stderr.readline().decode()
    check_survivors(out, 3, 'has lost its program')
    os.kill(int(died.fullmatch(line)[1]), 15)
    status, rest, err = job.finish()
    check_equal((status, rest, err), (0, '', ''))


def test_leaves():
    """Without an error, but also without the job's leave."""
    check_one_dies('quiet', 'exited with status 0 without leaving the job')


def test_two():
    """Both halves break. The deaths have the same order for all."""
    status, out, err = run_way('two')
    order = [int(n) for n in re.findall(r'^cohortrun: locality (\d) .* (?:3|2) go on$', err, re.M)]
    check_equal((status, sorted(order)), (0, [0, 3]))
    for rank in (1, 2):
        lines = lines_of(out, rank)
        check_equal((lines[3][:9], lines[-1]), ('failed: %d' % order[0], 'survivors: fine'))


def test_later():
    """Another one dies in what the survivors have made."""
    status, out, err = run_way('later')
    check_equal(re.findall('; . .*$', err, re.M), ['; 3 go on', '; 2 go on'])
    check_equal(status, 0)
    for rank in (1, 2):
        check_equal(lines_of(out, rank)[-1], 'survivors: fine')


def test_all():
    """When nobody is left, the job fails like any other."""
    status, _, err = run_way('all')
    check_equal(status, 137)
    said = re.findall(r'^cohortrun: locality \d .* was killed by signal 9 \(Killed\)(.*)$', err,
                      re.M)
    check_equal(said, ['; 3 go on', '; 2 go on', '; 1 goes on', ''])


def test_status():
    """It is that of the survivors."""
    status, out, err = run_way('fail')
    check_equal(status, 1)
    check('3 go on\n' in err, err)
    check(re.search(r'^cohortrun: locality 0 .* (exited with status 1|has failed): this one is not '
                    'content$', err, re.M), err)


def test_work():
    """Four of six die, at different points. The others do all the work."""
    status, out, err = run_way('work', 6)
    check_equal(status, 0)
    ended = sorted(re.findall(r'^cohortrun: locality (\d) ', err, re.M))
    check(ended == ['0', '2', '4', '5'], err, out)
    check_equal(sorted(out.splitlines()), ['1 worked: site 0 of 2', '3 worked: site 1 of 2'])


def test_revoked():
    """A site revokes what all have, and dies as soon as it may. All others hear of it."""
    status, out, err = run_way('revoke')
    check_equal(status, 0)
    check_equal(re.findall(r'^cohortrun: locality (\d) ', err, re.M), ['3'])
    for rank in range(NUM - 1):
        world, later, *half, shrunk = lines_of(out, rank)
        said = r': .*: site 3 \(locality 3\) has revoked the communicator'
        check(re.fullmatch('world' + said, world), world)
        check(re.fullmatch('world later' + said, later), later)
        check_equal(half, ['half: fine'] if rank < NUM // 2 else [])
        check_equal(shrunk, 'shrunk: fine')


def test_serve():
    """One waits for any of the others, which die one by one. It acknowledges each death."""
    status, out, err = run_way('serve')
    check_equal(status, 0)
    lines = [re.sub(r'^any: .* from any site: site (\d) is lost: locality (\d) .*was killed.*',
                    r'lost: \1 \2', line) for line in lines_of(out, 0)]
    want = []
    for left in range(NUM - 1, 0, -1):
        want += ['answers: %d' % left, 'lost: %d %d' % (left, left),
                 'acknowledged: %d' % (NUM - left)]
    check_equal(lines, want)


def test_everywhere():
    """A call to all localities leaves out those that have died, and nobody else."""
    status, out, err = run_way('everywhere', 8)
    check_equal(status, 0)
    for rank in (0, 1, 2, 3, 5):
        check_equal(lines_of(out, rank), ['everywhere: fine', 'answers: 5'])


def test_nobody_dies():
    status, out, err = run('-n', 6, '--workers', 1, MEMBER, 'peace')
    check_equal((status, err), (0, ''))
    check_equal(sorted(out.splitlines()),
                ['%d worked: site %d of 6, never shrunk' % (i, i) for i in range(6)])


def test_without():
    """Without the option a death ends the job."""
    status, _, err = run('-n', NUM, '--workers', 1, '--grace', 0.3, MEMBER, 'kill')
    check_equal(status, 137)
    check(re.fullmatch(r'cohortrun: locality 3 .* was killed by signal 9 \(Killed\)\n', err), err)


LOST = r'cohortrun: locality 3 \(pid (\d+)\)' + ON_HOST + (
    r' is lost: its guardian was killed; 3 go on\n')


def parent_of(pid):
    return int(re.search(rb'PPid:\s*(\d+)', jobs.read_proc(pid, 'status')).group(1))


def check_guardian_killed(program, num_between):
    job = Job('-n', NUM, '--workers', 1, '--keep-going', *program)
    guardian = parent_of(await_stopped(job))
    for _ in range(num_between):
        guardian = parent_of(guardian)
    jobs.send_signal(guardian, 9)
    status, out, err = job.finish()
    check(re.fullmatch(LOST, err), err)
    check_equal(status, 0)
    check_survivors(out, 3, 'is lost: its guardian was killed')


def test_guardian():
    """Also if nobody is left to say how it has ended."""
    check_guardian_killed([MEMBER, 'stop'], 0)


def test_guardian_of_script():
    """The kernel ends the script, but not what the script has started."""
    check_guardian_killed(['sh', '-c', '"$0" stop; true', MEMBER], 1)


def test_outlives_guardian():
    """A program that is not killed with its guardian is killed before the others are told."""
    job = Job('-n', NUM, '--workers', 1, '--keep-going', MEMBER, 'outlive')
    line = job.process.stderr.readline().decode()
    lost = re.fullmatch(LOST, line)
    check(lost, line)
    victim = int(lost[1])
    is_there = victim in job.processes()
    jobs.send_signal(victim, 9) # nobody else would
    check(not is_there, 'it is there')
    status, out, err = job.finish()
    check_equal((status, err), (0, ''))
    check_survivors(out, 3, 'is lost: its guardian was killed')


def test_dropped():
    """Who can't be reached is ended before the others go on."""
    status, out, err = run('-n', NUM, '--workers', 1, '--keep-going', '--grace', 0.1, '-x',
                           'COHORT_NET=ofi', '-x', 'COHORT_FAULT=drop:3-2@20', MEMBER, 'none')
    victims = re.findall(r'^cohortrun: locality (\d) .* was killed by signal 9 \(Killed\), since '
                         r'locality \d says that locality (?:2|3) can\'t be reached; 3 go on$', err,
                         re.M)
    check(victims in (['2'], ['3']), err)
    check_equal(status, 0)
    check('got' not in out, out)


def test_host():
    """All of the second host is killed at once, its daemon too."""
    if not FAR:
        return
    job = Job('-n', NUM, '--workers', 1, '--keep-going', MEMBER, 'stop')
    await_stopped(job)
    for pid in job.processes():
        if b'COHORT_TEST_HOST=b' in jobs.read_proc(pid, 'environ').split(b'\0'):
            jobs.send_signal(pid, 9)
    status, out, err = job.finish()
    check_equal(status, 0)
    check_equal(re.findall(r'^cohortrun: locality (\d) .* on host b .*; (\d go on)$', err, re.M),
                [('2', '3 go on'), ('3', '2 go on')])
    for rank in (0, 1):
        lines = lines_of(out, rank)
        check_equal((lines[0], lines[-1]), ('half: fine', 'survivors: fine'))


def test_silent():
    """The second host's daemon is stopped. The first host is told within the limit and a second,
    as far as the machine has time for it: of three jobs one is enough."""
    if not FAR:
        return
    for _ in range(3):
        job = Job('-n', NUM, '--workers', 1, '--keep-going', *jobs.SILENT, MEMBER, 'wait')
        seconds, lines = jobs.await_told(
            job, lambda: jobs.send_signal(job.daemon_of('b'), signal.SIGSTOP))
        status, out, err = job.finish()
        check_equal(status, 0)
        for line in lines:
            check('shrunk' in line or 'on host b is lost: it has been silent for' in line, line)
        check_equal(re.findall('^cohortrun: locality (.) .* on host b .*; (. go on)$', err, re.M),
                    [('2', '3 go on'), ('3', '2 go on')])
        print('told after %.2f s' % seconds)
        if seconds < jobs.LIMIT + 1:
            return
    raise jobs.Failed('told after %.1f s' % seconds)


def test_interrupted():
    """It is meant to end: the first death ends it as ever."""
    job = Job('-n', NUM, '--workers', 1, '--keep-going', MEMBER, 'stop')
    await_stopped(job)
    job.process.terminate()
    status, _, err = job.finish()
    check_equal(status, 143)
    check('on\n' not in err, err)


def test_next_program():
    """There is no second program after a death: it is told so, and does not wait."""
    status, out, err = run('-n', NUM, '--workers', 1, '--keep-going', 'sh', '-c',
                           '"$0" kill || exit 9; "$0" none', MEMBER)
    check('has died before this program has started' in err, err)
    check_equal(status, 1)


def fade(num):
    """They die one by one until one is left. Returns the milliseconds of each line."""
    status, out, err = run('-n', num, '--workers', 1, '--keep-going', FADING)
    check_equal(status, 0)
    check_equal(re.findall(r'^cohortrun: locality (\d+) ', err, re.M),
                [str(rank) for rank in range(num - 1, 0, -1)])
    lines = re.findall(r'^(\d+) left: told after (\S+) ms, whole after (\S+) ms more$', out, re.M)
    check_equal([int(left) for left, _, _ in lines], list(range(num - 1, 0, -1)))
    return [(float(told), float(whole)) for _, told, whole in lines]


def test_fading():
    fade(8)


def print_figures():
    """Of the first half of the deaths, so with 17 localities at least."""
    lines = fade(32)[:16]
    for index, name in (0, 'from a death to the last error'), (1, 'from there to a whole sum'):
        all_of_it = sorted(line[index] for line in lines)
        print('%s: median %.1f ms, most %.1f ms' % (name, all_of_it[8], all_of_it[-1]))


if __name__ == '__main__':
    if '--figures' in sys.argv:
        print_figures()
        sys.exit()
    jobs.run_cases(globals(), 'test_', CHOSEN)
