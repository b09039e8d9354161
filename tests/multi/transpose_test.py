#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example transpose, in jobs of several localities.
Usage: transpose_test.py COHORTRUN EXAMPLES [--slow] [case...], with the folder of the examples."""
import os
import random
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile

import jobs
from jobs import check, check_equal

TRANSPOSE = os.path.join(sys.argv[2], 'transpose')
MAKE_PICTURE = os.path.join(sys.argv[2], 'make_picture')
SLOW = '--slow' in sys.argv  # under a sanitizer
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]

SIZES = [(1, 1, 255), (3, 1000, 255), (211, 157, 255), (157, 64, 65535), (1000, 3, 300)]


class Picture:
    """Rows of samples: a second implementation of what the example does."""

    def __init__(self, width, height, maxval, seed=1):
        self.width, self.height, self.maxval = width, height, maxval
        numbers = random.Random(seed)
        self.rows = [[numbers.randint(0, maxval) for _ in range(width)] for _ in range(height)]

    def transposed(self):
        other = Picture(0, 0, self.maxval)
        other.width, other.height = self.height, self.width
        other.rows = [list(column) for column in zip(*self.rows)]
        return other

    def file(self):
        width = 2 if self.maxval > 255 else 1
        return b'P5\n%d %d\n%d\n' % (self.width, self.height, self.maxval) + b''.join(
            sample.to_bytes(width, 'big') for row in self.rows for sample in row)


class Folder:
    """Yields a new folder with IN.pgm."""

    def __init__(self, content):
        self.folder = tempfile.TemporaryDirectory(prefix='cohort-transpose-')
        self.path = self.folder.name
        self.input = os.path.join(self.path, 'IN.pgm')
        self.output = os.path.join(self.path, 'OUT.pgm')
        with open(self.input, 'wb') as f:
            f.write(content)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def check_entries(self, *names):
        check_equal(sorted(os.listdir(self.path)), sorted(names))


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def transpose(num_localities, *args, launcher=(), **options):
    """The job's status, output and errors. If NUM_LOCALITIES is 0, it runs without cohortrun."""
    if num_localities:
        return jobs.run('-n', num_localities, *launcher, TRANSPOSE, *args, **options)
    done = subprocess.run([TRANSPOSE] + [str(a) for a in args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=jobs.TIMEOUT,
                          check=False, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check_transposed(num_localities, sites, size, *args, levels=None, launcher=()):
    """Runs a job that has to succeed, and compares the file that it writes and what it prints."""
    picture = Picture(*size)
    with Folder(picture.file()) as folder:
        status, out, err = transpose(num_localities, '--sites-per-locality', sites, '--check',
                                     *args, folder.input, folder.output, launcher=launcher)
        what = (num_localities, sites, size, args)
        check((status, err) == (0, ''), what, status, err)
        check(read(folder.output) == picture.transposed().file(), what, 'wrong output')
        check_equal(read(folder.input), picture.file())
        folder.check_entries('IN.pgm', 'OUT.pgm')
    localities = num_localities or 1
    check(out.startswith('picture: %d x %d, %d bits, maxval %d\n' % (
        size[0], size[1], 16 if size[2] > 255 else 8, size[2])), out)
    check('sites: %d in %d localities, ' % (localities * sites, localities) in out, out)
    check('check: equal to a serial transpose\n' in out, out)
    got = int(re.search(r'(\d+) levels', out)[1])
    check(got == levels if levels else got > 0, what, out)
    return out


def test_one_process():
    for sites in 1, 3, 4, 17:
        for size in SIZES:
            for arity in 2, 4:
                check_transposed(0, sites, size, '--threshold', 0, '--arity', arity)


def test_localities():
    """Each number of localities with each number of sites and with both arities. The tree has as
    many levels as the partition."""
    levels = {(1, 2): 1, (2, 2): 1, (3, 2): 2, (4, 2): 2, (5, 2): 3, (6, 2): 3, (8, 2): 3,
              (12, 2): 4, (15, 2): 4, (16, 2): 4, (20, 2): 5,
              (1, 4): 1, (2, 4): 1, (3, 4): 1, (4, 4): 1, (5, 4): 2, (6, 4): 2, (8, 4): 2,
              (12, 4): 2, (15, 4): 2, (16, 4): 2, (20, 4): 3}
    case = 0
    for num_localities in 1, 2, 4, 5:
        for sites in 1, 3, 4:
            for arity in 2, 4:
                check_transposed(num_localities, sites, SIZES[case % len(SIZES)],
                                 '--threshold', 0, '--arity', arity,
                                 levels=levels[num_localities * sites, arity])
                case += 1


def test_sizes():
    for size in SIZES:
        check_transposed(4, 4, size, levels=2)


def test_workers():
    check_transposed(2, 8, SIZES[2], '--repeat', 3, levels=2, launcher=('--workers', 2))


def test_algorithms():
    for algorithm in 'linear', 'hierarchical', 'padded':
        out = check_transposed(3, 3, SIZES[2], '--threshold', 0, '--algorithm', algorithm,
                               '--repeat', 4, levels=2)
        check('all_to_all: %s, ' % algorithm in out and '(median of 4)' in out, out)


def test_threshold():
    check_transposed(0, 15, SIZES[2], levels=1)
    check_transposed(0, 16, SIZES[2], levels=2)
    check_transposed(0, 16, SIZES[2], '--threshold', 17, levels=1)


def test_large():
    """More data than is sent eagerly, and 16 bits."""
    side = 300 if SLOW else 1500
    check_transposed(4, 4, (side, side - 1, 65535), levels=2)


def test_shipped_pictures():
    for options, size, maxval in [
            ((), b'211 157', b'255'),
            (('--depth', '16', '--width', '173', '--height', '229'), b'173 229', b'65535')]:
        with Folder(b'') as folder:
            subprocess.run([MAKE_PICTURE, *options, folder.input], check=True)
            before = read(folder.input)
            check(before.startswith(b'P5\n%s\n%s\n' % (size, maxval)), before[:20])
            subprocess.run([MAKE_PICTURE, *options, folder.output], check=True)
            check_equal(read(folder.output), before)
            samples = before.split(b'\n', 3)[3]
            check(len(set(samples)) > 50, 'a dull picture')
            folder.check_entries('IN.pgm', 'OUT.pgm')


def test_in_place():
    """Done twice, which gives the original file. Its permissions stay."""
    picture = Picture(*SIZES[2])
    with Folder(picture.file()) as folder:
        os.chmod(folder.input, 0o600)
        for content in picture.transposed().file(), picture.file():
            status, _, err = transpose(2, folder.input, folder.input)
            check_equal((status, err), (0, ''))
            check(read(folder.input) == content, 'wrong output')
            check_equal(stat.S_IMODE(os.stat(folder.input).st_mode), 0o600)
            folder.check_entries('IN.pgm')


def check_refused(num_localities, folder, input, output, why):
    """Status 1 and one error line, which ends with WHY. There is no new file in the folder."""
    entries = os.listdir(folder.path)
    status, out, err = transpose(num_localities, input, output)
    check((status, out) == (1, ''), why, status, out, err)
    check(err.count('\n') == 1 and err.endswith(': ' + why + '\n'), repr(err), 'instead of', why)
    folder.check_entries(*entries)


MALFORMED = [
    (b'', 'truncated: it ends within the header'),
    (b'P5\n3 ', 'truncated: it ends within the header'),
    (b'P2\n1 1\n255\n7\n', "malformed: no binary PGM, it doesn't begin with P5"),
    (b'P5\n3 0\n255\n', 'malformed: the height is not within 1 to 2147483647'),
    (b'P5\nx 3\n255\n', 'malformed: the width is no number'),
    (b'P5\n3 3\n70000\n', 'malformed: the maxval is not within 1 to 65535'),
    (b'P5\n3 3\n255\n12345678', 'truncated: 8 bytes of 9 expected after the header'),
    (b'P5\n3 3\n255\n123456789\n', "malformed: 1 bytes after the picture's 9"),
    (b'P5\n2147483647 2147483647\n65535\n12',
     'truncated: 2 bytes of 9223372028264841218 expected after the header'),
    (b'P5\n99999999999999999999 1\n255\n1',
     'malformed: the width is not within 1 to 2147483647'),
    (b'P5\n1 2\n9\n\1\12', 'malformed: the sample in column 0 of row 1 is 10, above the maxval 9'),
]


def test_malformed():
    for number, (content, why) in enumerate(MALFORMED):
        with Folder(content) as folder:
            why = folder.input + ': ' + why
            check_refused(0, folder, folder.input, folder.output, why)
            check_refused(1 + number % 4, folder, folder.input, folder.output, why)


def test_unreadable():
    with Folder(b'') as folder:
        none = os.path.join(folder.path, 'none.pgm')
        for num_localities in 0, 2:
            check_refused(num_localities, folder, none, folder.output,
                          none + ': cannot read: No such file or directory')
            check_refused(num_localities, folder, folder.path, folder.output,
                          folder.path + ': cannot read: a directory')


def test_all_localities_fail():
    """The status is 1 in all localities, for a bad input and for a bad output. A shell around each
    locality prints it."""
    script = '"$@"; echo status $?'
    with Folder(b'P5\n') as folder:
        status, out, err = jobs.run('-n', 3, 'sh', '-c', script, 'sh', TRANSPOSE, folder.input,
                                    folder.output)
        check_equal(out, 'status 1\n' * 3)
        folder.check_entries('IN.pgm')
    with Folder(Picture(*SIZES[0]).file()) as folder:
        status, out, err = jobs.run('-n', 3, 'sh', '-c', script, 'sh', TRANSPOSE, folder.input,
                                    folder.path)
        check_equal(out, 'status 1\n' * 3)
        folder.check_entries('IN.pgm')


def test_unwritable():
    with Folder(Picture(*SIZES[2]).file()) as folder:
        none = os.path.join(folder.path, 'none', 'OUT.pgm')
        for num_localities in 0, 3:
            check_refused(num_localities, folder, folder.input, none,
                          none + ': cannot write: No such file or directory')
            check_refused(num_localities, folder, folder.input, folder.path,
                          folder.path + ': cannot write: not a regular file')
            check_refused(num_localities, folder, folder.input, '/dev/null',
                          '/dev/null: cannot write: not a regular file')
        check(stat.S_ISCHR(os.stat('/dev/null').st_mode), '/dev/null is no device any more')
        status, _, err = transpose(0, folder.input, '/proc/OUT.pgm')  # root may write anywhere else
        check(status == 1 and '/proc/OUT.pgm: cannot write: ' in err, status, err)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))


def limit_files_quietly():
    """write() fails then, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit_files()


def test_full_disk():
    with Folder(Picture(*SIZES[2]).file()) as folder:
        status, out, err = transpose(0, folder.input, folder.output,
                                     preexec_fn=limit_files_quietly, restore_signals=False)
        check_equal((status, out), (1, ''))
        check(err.endswith('OUT.pgm: cannot write: File too large\n') and err.count('\n') == 1, err)
        folder.check_entries('IN.pgm')


def test_killed_while_writing():
    with Folder(Picture(*SIZES[2]).file()) as folder:
        for num_localities, want in (0, -signal.SIGXFSZ), (2, 128 + signal.SIGXFSZ):
            status, out, err = transpose(num_localities, folder.input, folder.output,
                                         preexec_fn=limit_files)
            check_equal((status, out), (want, ''))
            folder.check_entries('IN.pgm')


def test_wrong_options():
    for args, why in [
            ([], 'needs IN.pgm and OUT.pgm'),
            (['IN.pgm'], 'needs IN.pgm and OUT.pgm'),
            (['IN.pgm', 'OUT.pgm', 'more'], 'needs IN.pgm and OUT.pgm'),
            (['IN.pgm', ''], 'needs IN.pgm and OUT.pgm'),
            (['--frob', 'IN.pgm', 'OUT.pgm'], "unrecognized option '--frob'"),
            (['--check=1', 'IN.pgm', 'OUT.pgm'], "doesn't allow an argument"),
            (['IN.pgm', 'OUT.pgm', '--arity'], 'requires an argument'),
            (['--arity', '1', 'IN.pgm', 'OUT.pgm'], '--arity needs a number from 2 '),
            (['--arity', '4x', 'IN.pgm', 'OUT.pgm'], "not '4x'"),
            (['--sites-per-locality', '0', 'IN.pgm', 'OUT.pgm'], 'a number from 1 to 4096'),
            (['--threshold', '-1', 'IN.pgm', 'OUT.pgm'], "not '-1'"),
            (['--repeat', '', 'IN.pgm', 'OUT.pgm'], "not ''"),
            (['--algorithm', 'bruck', 'IN.pgm', 'OUT.pgm'], "not 'bruck'")]:
        status, out, err = transpose(0, *args)
        check_equal((status, out), (2, ''))
        lines = err.splitlines()
        check(len(lines) == 2 and why in lines[0] and lines[1].startswith('usage: transpose '), err)


def test_help():
    status, out, err = transpose(0, '--help')
    check(status == 0 and out.startswith('usage: transpose ') and err == '', status, out, err)


jobs.run_cases(globals(), chosen=CHOSEN)
