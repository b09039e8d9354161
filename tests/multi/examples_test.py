#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples except transpose, alone and in jobs of several localities. Each example compares its
result with the serial one. The test does so too, if that needs no library.
Usage: examples_test.py COHORTRUN EXAMPLES [case...], with the folder of the examples."""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile

import jobs
from jobs import check, check_equal

EXAMPLES = sys.argv[2]
SHAPES = [(0, 1), (0, 3), (0, 7), (4, 9), (4, 3)]  # localities (0: without cohortrun), sites


class Folder(tempfile.TemporaryDirectory):
    """Yields a new folder, and the name of a file in it."""

    def __init__(self):
        super().__init__(prefix='cohort-examples-')

    def __enter__(self):
        return self

    def file(self, name, content=None):
        path = os.path.join(self.name, name)
        if content is not None:
            with open(path, 'wb') as f:
                f.write(content)
        return path

    def entries(self):
        return sorted(os.listdir(self.name))


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def example(name, num_localities, *args):
    """The job's status, output and errors. If NUM_LOCALITIES is 0, it runs without cohortrun."""
    program = [os.path.join(EXAMPLES, name)] + [str(a) for a in args]
    if num_localities:
        return jobs.run('-n', num_localities, *program)
    done = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=jobs.TIMEOUT, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def succeed(name, num_localities, *args):
    """The output of a job that has to succeed."""
    status, out, err = example(name, num_localities, *args)
    check((status, err) == (0, ''), name, num_localities, args, status, out, err)
    return out


def refuse(name, num_localities, why, *args, printed=''):
    """The job fails with status 1 and lines that end with WHY: one, or where sites of several
    localities are named, one for each. Its output begins with PRINTED, or is empty."""
    status, out, err = example(name, num_localities, *args)
    check(status == 1 and out.startswith(printed) and bool(out) == bool(printed), name, args,
          status, out, err)
    lines = err.splitlines()
    check(0 < len(lines) <= max(num_localities, 1) and
          all(line.endswith(': ' + why) for line in lines), repr(err), 'instead of', why)


def check_wrong(name, files, *cases):
    """Command lines that are refused with status 2, the reason and the usage."""
    for args, why in [(['--frob'], "unrecognized option '--frob'"), (['--help=x'], '--help'),
                      (files + ['more'], 'nothing else' if files else 'no files'), *cases]:
        for num_localities in 0, 2:
            status, out, err = example(name, num_localities, *args)
            check(status == 2 and out == '' and why in err and 'usage: ' + name in err, name, args,
                  status, out, err)
    status, out, err = example(name, 0, '--help')
    check((status, err) == (0, '') and out.startswith('usage: ' + name), out, err)


def check_unwritable(name, *args, printed=''):
    """ARGS without the last one, which is the file to write."""
    with Folder() as folder:
        none = os.path.join(folder.name, 'none', 'file')
        for num_localities in 0, 3:
            refuse(name, num_localities, none + ': cannot write: No such file or directory',
                   *args, none, printed=printed)
            refuse(name, num_localities, folder.name + ': cannot write: not a regular file',
                   *args, folder.name, printed=printed)
        check_equal(folder.entries(), [])


def check_limit(name, num_localities, *args):
    """The scope's limit ends what runs in all localities, and all say why."""
    status, _, err = example(name, num_localities, *args, '--limit', 1)
    check(status == 1 and err.count('\n') == 1 and
          'the scope had not ended after its limit of 1.000 milliseconds\n' in err, status, err)


def samples_of(pgm):
    """Width, height, maxval and the samples."""
    _, size, maxval, samples = pgm.split(b'\n', 3)
    width, height = (int(n) for n in size.split())
    check_equal(len(samples), width * height * (2 if int(maxval) > 255 else 1))
    return width, height, int(maxval), samples


def needs(name):
    """Whether the example has been built."""
    return os.path.exists(os.path.join(EXAMPLES, name))


# bfs


def test_bfs():
    want = None
    for num_localities in 0, 1, 2, 3, 5:
        out = succeed('bfs', num_localities, '--scale', 9, '--roots', 3)
        lines = out.splitlines()
        check(re.fullmatch(r'graph: 2\^9 vertices, \d+ edges, in %d localities' %
                           max(num_localities, 1), lines[0]), lines[0])
        check_equal(lines[-1], 'check: 3 trees are right')
        trees = [line.split(' levels,')[0] for line in lines[1:-1]]
        want = want or trees
        check_equal((trees, len(trees)), (want, 3)) # the same everywhere
    succeed('bfs', 2, '--scale', 1, '--roots', 1)
    succeed('bfs', 3, '--scale', 13, '--roots', 1, '--seed', 7)


def test_bfs_flood():
    """It reaches what the search by levels reaches; the program checks the trees."""
    want = [line.split(',')[0] for line in
            succeed('bfs', 0, '--scale', 9, '--roots', 3).splitlines()[1:]]
    for num_localities in 0, 1, 2, 3, 5:
        out = succeed('bfs', num_localities, '--scale', 9, '--roots', 3, '--flood')
        check_equal([line.split(',')[0] for line in out.splitlines()[1:]], want)
        check_equal(out.count(' vertices, visited '), 3)
    succeed('bfs', 2, '--scale', 1, '--roots', 1, '--flood', '--limit', 1000000)
    succeed('bfs', 3, '--scale', 13, '--roots', 1, '--seed', 7, '--flood')


def test_bfs_limit():
    for num_localities in 0, 1, 3:
        check_limit('bfs', num_localities, '--scale', 15, '--flood')


def test_bfs_wrong():
    check_wrong('bfs', [], (['--scale', '27'], '27'), (['--roots', '0'], '0'),
                (['--limit', '5'], '--limit needs --flood'))


# salesman


def test_salesman():
    for num_localities in 0, 1, 2, 4:
        for args in [], ['--cities', 2], ['--cities', 9, '--depth', 4, '--seed', 3], \
                ['--cities', 7, '--depth', 1]:
            out = succeed('salesman', num_localities, *args)
            check_equal(out.splitlines()[-1], 'check: equal to dynamic programming')


def test_salesman_limit():
    for num_localities in 0, 1, 3:
        check_limit('salesman', num_localities, '--cities', 16, '--depth', 4)


def test_salesman_wrong():
    check_wrong('salesman', [], (['--cities', '17'], '17'), (['--depth', '5'], '5'),
                (['--limit', '-1'], '--limit needs a number from 0 to 1000000'))


# hello


def test_hello():
    for num_localities in 0, 1, 4:
        sites = 2 * (num_localities or 1)
        lines = ['site %d of %d in locality %d: the sum is %d' %
                 (i, sites, i // 2, sites * (sites + 1) // 2) for i in range(sites)]
        check_equal(sorted(succeed('hello', num_localities).splitlines()), lines)


# checksum


def fnv_1a(data):
    number = 0xcbf29ce484222325
    for byte in data:
        number = (number ^ byte) * 0x100000001b3 % 2**64
    return number


def test_checksum():
    with Folder() as folder:
        names = [folder.file('file%d' % i) for i in range(7)]
        want = []
        for i, name in enumerate(names):
            data = bytes(k * i % 251 for k in range(11000 * i))
            with open(name, 'wb') as file:
                file.write(data)
            want.append('%016x %d %s' % (fnv_1a(data), len(data), name))
        for num_localities in 0, 1, 3:
            status, out, err = example('checksum', num_localities, *names)
            check_equal(status, 0)
            check_equal(sorted(out.splitlines()), sorted(want))
            check_equal(err.count(' turns of the heartbeat'), num_localities or 1)
            status, out, err = example('checksum', num_localities, *names, '/nowhere')
            check(status == 1 and '/nowhere: No such file or directory' in err, status, out, err)
    status, out, err = example('checksum', 1)
    check(status == 1 and 'usage: checksum FILE...' in err, status, err)


# factors


def factors_of(number):
    found, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return found


def test_factors():
    """The input goes to locality 0; the others have nothing to do until its end."""
    numbers = list(range(1, 300)) + [2 ** 63, 1000003 * 1009]
    data = '\n'.join(map(str, numbers)).encode()  # the last line does not end
    lines = [' '.join(map(str, [number, '='] + factors_of(number))) for number in numbers]
    total = sum(len(factors_of(number)) for number in numbers)
    program = os.path.join(EXAMPLES, 'factors')
    for num_localities in 0, 1, 3:
        if num_localities:
            status, out, err = jobs.run('-n', num_localities, program, data=data)
        else:
            done = subprocess.run([program], input=data, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=jobs.TIMEOUT, check=False)
            status, out, err = done.returncode, done.stdout.decode(), done.stderr.decode()
        check_equal((status, err), (0, ''))
        check_equal(sorted(out.splitlines()),
                    sorted(lines + ['factors in all localities: %d' % total]))
    check_equal(example('factors', 0), (0, 'factors in all localities: 0\n', ''))
    for line, why in (b'0\n', '0'), (b'7x\n', '7x'), (b'7x', '7x'), (b'-1\n', '-1'), \
            (b'9' * 21 + b'\n', '9' * 21):
        done = subprocess.run([program], input=line, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=jobs.TIMEOUT, check=False)
        check_equal((done.returncode, done.stderr.decode()),
                    (1, 'factors: no number from 1 to 2^64 - 1: %s\n' % why))
    status, _, err = jobs.run('-n', 2, '--grace', 0.05, program, data=b'x\n')
    check(status == 1 and 'has failed: no number from 1 to 2^64 - 1: x\n' in err, status, err)
    os.environ['COHORT_SPIN'] = '-5'
    try:
        for num_localities in 0, 1, 2:  # a start that fails says why once
            status, _, err = example('factors', num_localities)
            check(status == 1 and err.count('COHORT_SPIN') == 1, status, err)
    finally:
        del os.environ['COHORT_SPIN']


# word_count


def test_word_count():
    with Folder() as folder:
        names = [folder.file('text%d' % i) for i in range(5)]
        num_lines = num_words = 0
        for i, name in enumerate(names):
            with open(name, 'w') as file:
                for line in range(1000 * i):
                    file.write('word ' * (line % 7) + '\n')
                    num_lines += 1
                    num_words += line % 7
        want = '%d lines, %d words\n' % (num_lines, num_words)
        for num_localities in 0, 1, 3:
            check_equal(succeed('word_count', num_localities, 0, *names), want)
            status, out, err = example('word_count', num_localities, 3600, *names, '/nowhere')
            check((status, out) == (1, '') and '/nowhere: No such file or directory' in err,
                  status, out, err)
    status, out, err = example('word_count', 1)
    check(status == 1 and 'usage: word_count SECONDS FILE...' in err, status, err)


# histogram


def test_histogram():
    for num_localities in 0, 1, 3:
        check_equal(succeed('histogram', num_localities),
                    '1000000 draws of 1000 values: each is counted\n')
    check_equal(succeed('histogram', 2, 7, 1), '70000 draws of 1 values: each is counted\n')
    check_equal(succeed('histogram', 2, 0), '0 draws of 1000 values: each is counted\n')
    status, out, err = example('histogram', 1, 1, 0)
    check(status == 1 and 'usage: histogram [PIECES [VALUES]]' in err, status, err)


# fft


def roughness(pgm):
    """The sum of the differences between neighbours in a row, with 8 bits in a sample."""
    width, height, _, samples = samples_of(pgm)
    return sum(abs(samples[y * width + x] - samples[y * width + x - 1])
               for y in range(height) for x in range(1, width))


def test_fft():
    """All shapes give the same as the serial transform, so the files are equal except for rounding.
    The picture is smoother than before, and has the same brightness."""
    picture = os.path.join(EXAMPLES, 'picture.pgm')
    before = read(picture)
    first = None
    with Folder() as folder:
        out = folder.file('OUT.pgm')
        for num_localities, sites in SHAPES:
            text = succeed('fft', num_localities, '--sites', sites, picture, out)
            check('check: differs from a serial transform by at most ' in text, text)
            check('sites: %d in %d localities' % (sites, num_localities or 1) in text, text)
            after = read(out)
            first = first or after
            check_equal(after[:15], first[:15])
            check(all(abs(a - b) <= 1 for a, b in zip(after, first)), 'not the same picture')
        check_equal(samples_of(first)[:3], samples_of(before)[:3])
        check(roughness(first) < roughness(before) / 2, 'not smooth')
        mean = [sum(samples_of(p)[3]) / len(samples_of(p)[3]) for p in (before, first)]
        check(abs(mean[0] - mean[1]) < 1, 'not as light as before', mean)
        check_equal(folder.entries(), ['OUT.pgm'])


def test_fft_sizes():
    with Folder() as folder:
        out = folder.file('OUT.pgm')
        for width, height in (1, 1), (1, 13), (17, 2), (64, 64):
            content = b'P5\n%d %d\n255\n' % (width, height) + bytes(
                (7 * i * i) % 256 for i in range(width * height))
            source = folder.file('IN.pgm', content)
            for num_localities, sites in (0, 5), (2, 3):
                succeed('fft', num_localities, '--sites', sites, '--cutoff', 100, source, out)
                check_equal(samples_of(read(out))[:2], (width, height))
        succeed('fft', 2, '--sites', 5, os.path.join(EXAMPLES, 'picture16.pgm'), out)
        check_equal(samples_of(read(out))[:3], (173, 229, 65535))


def test_fft_wrong():
    check_wrong('fft', ['IN.pgm', 'OUT.pgm'],
                ([], 'needs IN.pgm and OUT.pgm'), (['IN.pgm'], 'needs IN.pgm and OUT.pgm'),
                (['--sites', '0', 'a', 'b'], '--sites needs a number from 1 to 4096'),
                (['--cutoff', '101', 'a', 'b'], '--cutoff needs a number from 1 to 100'))
    with Folder() as folder:
        none, out = folder.file('none.pgm'), folder.file('OUT.pgm')
        broken = folder.file('IN.pgm', b'P5\n3 3\n255\n12345678')
        for num_localities in 0, 3:
            refuse('fft', num_localities, none + ': cannot read: No such file or directory', none,
                   out)
            refuse('fft', num_localities,
                   broken + ': truncated: 8 bytes of 9 expected after the header', broken, out)
        check_equal(folder.entries(), ['IN.pgm'])
    check_unwritable('fft', os.path.join(EXAMPLES, 'picture.pgm'))


# matvec


def test_matvec():
    """The program compares the results. The chart is the same for all grids, and smooth at the
    end."""
    first = {}
    for num_localities, rows, columns, n in [
            (0, 1, 1, 500), (0, 2, 2, 500), (0, 1, 5, 500), (0, 5, 1, 500), (0, 3, 7, 500),
            (4, 3, 2, 500), (4, 2, 5, 500), (4, 3, 3, 500), (2, 1, 1, 500),
            (0, 3, 3, 1), (0, 5, 4, 3), (4, 3, 5, 2), (0, 4, 3, 101), (3, 2, 4, 101)]:
        text = succeed('matvec', num_localities, '--n', n, '--rows', rows, '--columns', columns)
        lines = text.splitlines()
        check_equal(lines[1], 'sites: %d in %d localities, %d rows and %d columns' % (
            rows * columns, num_localities or 1, rows, columns))
        check(lines[-1].startswith("check: differs from one site's product by at most "), text)
        chart = first.setdefault(n, lines[3:-1])
        check_equal(lines[3:-1], chart)
        check_equal(sum(line.count('*') for line in chart), min(n, 72))


def test_matvec_wrong():
    check_wrong('matvec', [], (['--n', '0'], '--n needs a number from 1 to 16384'),
                (['--rows', '0'], '--rows needs a number from 1 to 4096'),
                (['--columns', '2x2'], '--columns needs a number from 1 to 4096, not '),
                (['--columns', '100', '--rows', '50'],
                 '--rows 50 times --columns 100 is above 4096 sites'))


# tcp_server


def test_tcp_server():
    """More clients than localities, and fewer; thousands at once."""
    for num_localities, connections, requests in (0, 50, 3), (3, 2, 5), (4, 2000, 2):
        out = succeed('tcp_server', num_localities, '--connections', connections, '--requests',
                      requests)
        check_equal(out, 'answers: %d, all right\nconnections: %d to %d localities\n' %
                    (connections * requests, connections, num_localities or 1))


def test_tcp_server_few_files():
    """Where there are too few descriptors, there are fewer connections."""
    done = subprocess.run(['sh', '-c', 'ulimit -n 400 && exec "$0"',
                           os.path.join(EXAMPLES, 'tcp_server')], stdout=subprocess.PIPE,
                          timeout=jobs.TIMEOUT, check=True)
    lines = done.stdout.decode().splitlines()
    check_equal(lines[0], 'the limit of open files (RLIMIT_NOFILE) allows only 100 connections')
    check_equal(lines[2], 'connections: 100 to 1 localities')


def test_tcp_server_wrong():
    check_wrong('tcp_server', [], (['--connections', '0'], '0'), (['--requests', 'x'], 'x'))


# sample_sort


def sorted_lines(content):
    lines = content.split(b'\n')
    if lines[-1] == b'':
        lines.pop()
    return b''.join(line + b'\n' for line in sorted(lines))


def random_lines(count, longest, letters, seed):
    numbers = random.Random(seed)
    return b''.join(bytes(numbers.choice(letters) for _ in range(numbers.randint(0, longest))) +
                    b'\n' for _ in range(count))


ANY_BYTE = [b for b in range(256) if b != 10]
FILES = [
    b'', b'\n', b'\n\n\n', b'alone', b'b\na', b'b\r\na\r\n\0\n\0\0\n\xff\n\x7f\n',
    b'the same\n' * 500,
    b''.join(b'x' * 100 + b'%d\n' % (i * 7919 % 1000) for i in range(300)),  # many equal lines
    random_lines(2000, 30, b'ab', 1), random_lines(3000, 40, ANY_BYTE, 2),
    b'x' * 300000 + b'\n' + random_lines(100, 10, b'abc', 3),
    b''.join(b'%06d\n' % i for i in range(5000, 0, -1)),
]


def test_sample_sort():
    with Folder() as folder:
        out = folder.file('OUT')
        for number, content in enumerate(FILES):
            source = folder.file('IN', content)
            shapes = SHAPES if number == 9 else [SHAPES[2 + number % 2]]
            for num_localities, sites in shapes:
                text = succeed('sample_sort', num_localities, '--sites', sites, source, out)
                check(text.endswith('check: equal to a serial sort\n'), text)
                check(read(out) == sorted_lines(content), 'wrong order', number, sites)
                check_equal(read(source), content)
        check_equal(folder.entries(), ['IN', 'OUT'])


def test_sample_sort_real():
    """This source, and much more data than is sent eagerly. The result is compared with that of
    sort(1)."""
    with Folder() as folder:
        out, want = folder.file('OUT'), folder.file('want')
        for source in __file__, folder.file('IN', random_lines(30000, 100, ANY_BYTE[:128], 4)):
            subprocess.run(['sort', '-o', want, source], check=True, env={'LC_ALL': 'C'})
            text = succeed('sample_sort', 4, '--sites', 13, source, out)
            check(read(out) == read(want), 'not what sort(1) makes of it')
            check('file: %d lines, ' % read(want).count(b'\n') in text, text)


def test_sample_sort_wrong():
    check_wrong('sample_sort', ['IN', 'OUT'], (['IN'], 'needs IN and OUT'),
                (['--sites', '4097', 'a', 'b'], '--sites needs a number from 1 to 4096'))
    with Folder() as folder:
        none, out = folder.file('none'), folder.file('OUT')
        for num_localities in 0, 3:
            refuse('sample_sort', num_localities,
                   none + ': cannot read: No such file or directory', none, out)
            refuse('sample_sort', num_localities, '/dev/null: cannot read: not a regular file',
                   '/dev/null', out)
            refuse('sample_sort', num_localities, folder.name + ': cannot read: a directory',
                   folder.name, out)
        check_equal(folder.entries(), [])
    check_unwritable('sample_sort', __file__)


# particles


def test_particles():
    for num_localities in (1, 3):
        for sites, particles, steps in ((1, 1, 1), (3, 2, 40), (12, 10000, 20), (40, 500, 3)):
            text = succeed('particles', num_localities, '--sites', sites, '--particles', particles,
                           '--steps', steps)
            check(text.startswith(f'particles: {particles}, sites: {sites}, steps: {steps}\n'),
                  text)
            check(text.endswith('check: each is where it should be\n'), text)


def test_particles_wrong():
    check_wrong('particles', [], (['--particles', '0'], '--particles needs a number from 1 to'),
                (['--sites', '4097'], '--sites needs a number from 1 to 4096'))


# halo


def test_halo():
    """The program compares with one site; where a dimension has one site or two, both neighbours
    are the same site."""
    for num_localities, sites, size, steps, grid in ((1, 1, 5, 3, '1 x 1 x 1'),
                                                     (1, 2, 9, 4, '1 x 1 x 2'),
                                                     (2, 8, 20, 3, '2 x 2 x 2'),
                                                     (3, 12, 13, 5, '2 x 2 x 3'),
                                                     (3, 5, 6, 0, '1 x 1 x 5'),
                                                     (4, 27, 48, 2, '3 x 3 x 3')):
        text = succeed('halo', num_localities, '--sites', sites, '--size', size, '--steps', steps)
        check(text.startswith(f'box: {size} x {size} x {size} cells, {steps} steps\n'), text)
        check(f'\nsites: {sites} in {num_localities} localities, a grid of {grid}\n' in text, text)
        check(text.endswith('check: equal to one site\'s, bit for bit\n'), text)


def test_halo_wrong():
    check_wrong('halo', [], (['--size', '0'], '--size needs a number from 1 to 1024'),
                (['--steps'], '--steps'))
    refuse('halo', 1, '5 sites along a dimension need more cells than --size 4', '--sites', 5,
           '--size', 4)


# stencil


def heat(width, height, steps):
    """The plate after STEPS steps, computed by another implementation."""
    def start(x, y):
        if x == 0:
            return 1.0 if height < 4 * y < 3 * height else 0.0
        if y in (0, height + 1) or x == width + 1:
            return 0.0
        distance = 16 * ((2 * x - width - 1) ** 2 + (2 * y - height - 1) ** 2)
        side = min(width, height) ** 2
        return 1.0 if 4 * side <= distance <= 9 * side else 0.0
    now = [[start(x, y) for x in range(width + 2)] for y in range(height + 2)]
    for _ in range(steps):
        next = [row[:] for row in now]
        for y in range(1, height + 1):
            for x in range(1, width + 1):
                around = (now[y - 1][x] + now[y + 1][x]) + (now[y][x - 1] + now[y][x + 1])
                next[y][x] = now[y][x] + 0.2 * (around - 4 * now[y][x])
        now = next
    return bytes(int(255 * now[y][x] + 0.5) for y in range(1, height + 1)
                 for x in range(1, width + 1))


def test_stencil():
    with Folder() as folder:
        out = folder.file('OUT.pgm')
        for width, height, steps in (31, 23, 40), (3, 3, 5), (40, 9, 0):
            want = (width, height, 255, heat(width, height, steps))
            check(steps == 0 or len(set(want[3])) > 3, 'a dull plate')
            for num_localities, sites in SHAPES + [(4, 6), (2, 1)]:
                if sites == 7 and width == 3:  # a grid of 7 x 1
                    continue
                text = succeed('stencil', num_localities, '--sites', sites, '--width', width,
                               '--height', height, '--steps', steps, out)
                check('check: equal to one site\'s, bit for bit' in text, text)
                check(samples_of(read(out)) == want, 'wrong picture', width, height, sites)
        check_equal(folder.entries(), ['OUT.pgm'])
        check(succeed('stencil', 4, out).startswith('plate: 256 x 192 cells, 400 steps'))


def test_stencil_wrong():
    check_wrong('stencil', ['OUT.pgm'], ([], 'needs OUT.pgm'),
                (['--steps', 'x', 'a'], '--steps needs a number from 0 to 1000000'),
                (['--width', '0', 'a'], '--width needs a number from 1 to 32768'),
                (['--height', '', 'a'], '--height needs a number from 1 to 32768'))
    check_unwritable('stencil', '--steps', 3)
    for num_localities in 0, 3:
        refuse('stencil', num_localities,
               'a grid of 7 x 1 sites needs more cells than --width 6 --height 9', '--sites', 7,
               '--width', 6, '--height', 9, '/none/OUT.pgm')


# cholesky


def test_cholesky():
    """Matrices come in the order in which they are done, so lines may have any order."""
    for num_localities, matrices, tiles in (0, 1, 1), (0, 5, 7), (0, 4, 2), (3, 3, 4):
        want = sorted('locality %d: matrix %d of %d x %d: ' % (locality, i, width, width)
                      for locality in range(num_localities or 1)
                      for i in range(matrices) for width in [32 * max(tiles - i, 1)])
        lines = succeed('cholesky', num_localities, '--matrices', matrices, '--tiles',
                        tiles).splitlines()
        check(all(line.endswith(', equal to a serial one, bit for bit') for line in lines), lines)
        check_equal(sorted(line[:line.index('residual')] for line in lines), want)
    check_wrong('cholesky', [], (['--tiles', '0'], '--tiles needs a number from 1 to 64'))


# poisson


def test_poisson():
    """The same for all numbers of localities, but for the order of sums. The program compares the
    error with what the residual allows."""
    first = {}
    for num_localities, n, iterations in [
            (0, 1, 1000), (0, 2, 1000), (0, 20, 1000), (1, 20, 1000), (2, 20, 1000), (3, 20, 1000),
            (5, 5, 1000), (0, 5, 1000), (0, 16, 3), (4, 16, 3)]:
        lines = succeed('poisson', num_localities, '--n', n, '--iterations',
                        iterations).splitlines()
        check(lines[0].startswith('cube: %d x %d x %d, in %d processes of ' %
                                  (n, n, n, num_localities or 1)), lines)
        check(lines[-1].startswith('check: the error is not above what the residual'), lines)
        count, norm = re.fullmatch(r'(\d+) iterations: residual \S+, norm (\S+), error \S+',
                                   lines[1]).groups()
        check(int(count) <= iterations, lines)
        want = first.setdefault((n, iterations), (count, float(norm)))
        check(count == want[0] and abs(float(norm) - want[1]) <= 1e-12 * want[1], lines, want)


def test_poisson_wrong():
    check_wrong('poisson', [], (['--n', '0'], '--n needs a number from 1 to 1024'),
                (['--iterations', '1001'], '--iterations needs a number from 1 to 1000'))
    status, out, err = example('poisson', 3, '--n', 2)
    check(status == 1 and out == '' and '3 localities need more planes than --n 2' in err, status,
          out, err)


# farm


def mandelbrot(width, iterations):
    """What farm draws, computed by another implementation."""
    height = (2 * width + 2) // 3

    def sample(row, column):
        point = complex(-2.25 + 3 * (column + 0.5) / width, -1 + 2 * (row + 0.5) / height)
        z = 0
        for i in range(iterations):
            z = complex(z.real * z.real - z.imag * z.imag, 2 * z.real * z.imag) + point \
                if i else point
            if z.real * z.real + z.imag * z.imag > 4:
                return i % 255
        return 255
    return width, height, 255, bytes(sample(y, x) for y in range(height) for x in range(width))


def test_farm():
    """Fewer strips than hands, and a last one that is shorter, too."""
    with Folder() as folder:
        for width, iterations in (1, 9), (9, 40), (61, 60):
            want = mandelbrot(width, iterations)
            check(width == 1 or len(set(want[3])) > 3, 'a dull picture')
            for num_localities, hands in (0, 1), (1, 3), (3, 2):
                out = folder.file('OUT.pgm', b'x' * 9999)
                text = succeed('farm', num_localities, '--width', width, '--iterations',
                               iterations, '--hands', hands, out)
                size = num_localities or 1
                check_equal(text, 'picture: %d x %d, by %d hands in %d localities\n'
                                  'check: the file is equal to a serial drawing\n' %
                            (width, want[1], size * hands, size))
                check(samples_of(read(out)) == want, 'wrong picture', width, num_localities)
        check_equal(folder.entries(), ['OUT.pgm'])


def test_farm_progress():
    """The first line comes at once, and the numbers do not fall."""
    with Folder() as folder:
        for num_localities in 0, 1, 3:
            text = succeed('farm', num_localities, '--progress', 1, folder.file('OUT.pgm'))
            written = [int(n) for n in re.findall(r'^written: (\d+) of 32 strips$', text, re.M)]
            check(written and written == sorted(written) and written[-1] <= 32, text)
            check_equal(len(text.splitlines()), len(written) + 2)


def test_farm_interrupted():
    """Ctrl-C ends it, in the midst of strips that take hours."""
    with Folder() as folder:
        args = [os.path.join(EXAMPLES, 'farm'), '--iterations', '3000000', '--width', '10000',
                '--progress', '100', folder.file('OUT.pgm')]
        for num_localities in 0, 1, 3:
            job = jobs.Job('-n', num_localities, *args) if num_localities else None
            process = job.process if job else subprocess.Popen(
                args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            check_equal(process.stdout.readline(), b'written: 0 of 1667 strips\n')
            process.send_signal(signal.SIGINT)
            err = job.finish()[2] if job else process.communicate(None, jobs.TIMEOUT)[1].decode()
            check(process.returncode == 1 and err.count('\n') == 1 and
                  err.endswith(': interrupted\n'), process.returncode, err)


def test_farm_wrong():
    check_wrong('farm', ['OUT.pgm'], ([], 'needs OUT.pgm'),
                (['--width', '0', 'a'], '--width needs a number from 1 to 10000'),
                (['--hands', '65', 'a'], '--hands needs a number from 1 to 64'))
    for num_localities in 0, 3:
        for path, why in ('/none/OUT.pgm', 'file_open: /none/OUT.pgm: no such file or directory '
                          '(ENOENT)'), ('/dev/full', 'file_write: /dev/full: no space left on '
                                        'device (ENOSPC)'):
            refuse('farm', num_localities, 'cohort_' + why, path)


# ising


def test_ising():
    """Ordered where it is cold, and not where it is hot. At 1.5 the exact solution has an energy of
    -1.951 and a magnetization of 0.986. How many workers there are makes no difference."""
    first = {}
    for num_localities in 0, 1, 3:
        for args in [], ['--tasks', 1], ['--side', 6, '--tasks', 7, '--sweeps', 30, '--every', 1], \
                ['--sweeps', 1, '--every', 1]:
            lines = sorted(succeed('ising', num_localities, *args).splitlines())
            check_equal(len(lines), num_localities or 1)
            found = [re.fullmatch(r'locality (\d): temperature (\S+), energy (\S+), magnetization '
                                  r"(\S+), equal to one task's", line).groups() for line in lines]
            if args in ([], ['--tasks', 1]):
                check(abs(float(found[0][2]) + 1.951) < 0.01 and
                      abs(float(found[0][3]) - 0.986) < 0.01, found)
                check(num_localities < 3 or float(found[2][3]) < 0.3, found)
            check_equal(found[0], first.setdefault(str(args), found[0]))


def test_ising_wrong():
    check_wrong('ising', [], (['--side', '7'], '--side needs an even number'),
                (['--every', '201'], '--every needs as many --sweeps'),
                (['--tasks', '0'], '--tasks needs a number from 1 to 64'))


# stamps


def stamp_hash(seed, number):
    """SplitMix64's, as stamps has it."""
    def mix(number):
        mask = 2 ** 64 - 1
        number = (number + 0x9e3779b97f4a7c15) & mask
        number = ((number ^ number >> 30) * 0xbf58476d1ce4e5b9) & mask
        number = ((number ^ number >> 27) * 0x94d049bb133111eb) & mask
        return number ^ number >> 31
    return mix(mix(seed) ^ number)


def test_stamps():
    """The first one, some, all: different numbers that have been found where they should be."""
    for num_localities in 0, 1, 3:
        for searches, wanted, bits in (8, 3, 18), (1, 1, 12), (5, 5, 14), (100, 1, 16), (3, 2, 1):
            lines = succeed('stamps', num_localities, '--searches', searches, '--wanted', wanted,
                            '--bits', bits, '--seed', 7).splitlines()
            check_equal(lines[-1], 'check: %d stamps of %d bits, nothing is searched any more' %
                        (wanted, bits))
            found = [re.fullmatch(r'search (\d+): (\d+) has the hash ([0-9a-f]{16})', line).groups()
                     for line in lines[:-1]]
            check_equal(len({number for _, number, _ in found}), wanted)
            for search, number, text in found:
                value = stamp_hash(7, int(number))
                check(int(number) % searches == int(search) and int(text, 16) == value and
                      value < 2 ** (64 - bits), lines)


def test_stamps_limit():
    """Searches that would take years end."""
    for num_localities in 0, 1, 3:
        check_limit('stamps', num_localities, '--bits', 63)


def test_stamps_wrong():
    check_wrong('stamps', [], (['--bits', '64'], '--bits needs a number from 1 to 63'),
                (['--wanted', '9'], '--wanted 9 needs as many --searches'))


# training


def losses(text):
    return [float(n) for n in re.findall(r'^epoch \d+: loss (\S+),', text, re.M)]


def test_training():
    """The loss falls, nearly all points end on the right side, and the picture is that of one site.
    A difference in the last bits of a weight changes a grey by at most one."""
    first = None
    with Folder() as folder:
        out = folder.file('OUT.pgm')
        for num_localities, sites in SHAPES:
            text = succeed('training', num_localities, '--sites', sites, '--epochs', 120, out)
            check('all_reduce: ring of 99 doubles' in text, text)
            check('check: weights differ by at most ' in text and 'bit for bit' not in text, text)
            loss = losses(text)
            check_equal(len(loss), 7)
            check(loss[-1] < loss[0] / 10, text)
            check(float(re.findall(r'(\S+)% right', text)[-1]) > 95, text)
            check_equal(samples_of(read(out))[:3], (256, 256, 255))
            first = first or read(out)
            check(all(abs(a - b) <= 1 for a, b in zip(read(out)[15:], first[15:])),
                  'not the same picture')
        check_equal(folder.entries(), ['OUT.pgm'])


def test_task_bench():
    """Each task checks its inputs. More localities than columns, too."""
    shapes = ['stencil', 'nearest', 'fft', 'tree', 'random', 'all_to_all']
    for num_localities, steps in (0, 7), (0, 100), (2, 100), (5, 2), (33, 3):
        lines = succeed('task_bench', num_localities, '--steps', steps).splitlines()
        check_equal(lines[0], 'graphs: %d steps of 32 tasks' % steps)
        check_equal([line.split(':')[0] for line in lines[2:]], shapes)
    for num_localities in 0, 2:
        lines = succeed('task_bench', num_localities, '--plain', '--steps', 3).splitlines()
        check(lines[1].endswith('but without tasks'), lines)
        check_equal([line.split(':')[0] for line in lines[2:]], shapes)
    check_wrong('task_bench', [], (['--steps', '1'], '--steps needs a number from 2 to 100000'))


def test_training_algorithms():
    """All algorithms give the same results except for rounding. In the order of the sites, they
    give the same bits."""
    with Folder() as folder:
        out = folder.file('OUT.pgm')
        few = '--epochs', 30, '--report', 30, '--points', 101, '--seed', 7
        bits = set()
        for algorithm in ('linear', 'hierarchical', 'mesh', 'recursive_doubling', 'rabenseifner',
                          'reduce_broadcast', 'ordered', 'any'):
            text = succeed('training', 2, '--sites', 9, '--algorithm', algorithm, *few, out)
            check('all_reduce: %s of ' % algorithm in text, text)
        for num_localities, sites in SHAPES:
            for algorithm in (), ('--algorithm', 'ordered'):
                text = succeed('training', num_localities, '--sites', sites, '--reproducible',
                               *algorithm, *few, out)
                check(text.endswith('on the same shares, bit for bit\n'), text)
            if sites == 3:
                bits.add(read(out))
        check_equal(len(bits), 1)


def test_training_deaths():
    """The last localities die on the way. The others go on, and the result is the right one."""
    with Folder() as folder:
        out = folder.file('OUT.pgm')
        for num, deaths, sites in (8, 2, 8), (3, 2, 12):
            status, text, err = jobs.run(
                '-n', num, '--keep-going', os.path.join(EXAMPLES, 'training'), '--sites', sites,
                '--epochs', 60, '--deaths', deaths, out)
            check_equal(status, 0)
            check_equal(re.findall(r'locality (\d+) .* was killed by signal 6 .*; (\d+) go', err),
                        [(str(num - i), str(num - i)) for i in range(1, deaths + 1)])
            check_equal(re.findall(r'^epoch (\d+): (\d+) sites go on$', text, re.M)[-1][1],
                        str(sites - deaths * sites // num))
            check('sites: %d in %d localities' % (sites - deaths * sites // num, num - deaths)
                  in text and 'check: weights differ by at most ' in text, text)
        status, text, err = example('training', 2, '--deaths', 1, '--epochs', 10, out)
        check(status == 134 and 'locality 1 ' in err, status, err)


def test_training_wrong():
    check_wrong('training', ['OUT.pgm'], ([], 'needs OUT.pgm'),
                (['--deaths', '1', '--reproducible', 'a'], 'with --deaths the shares change'),
                (['--points', '1', 'a'], '--points needs a number from 2 to 1000000'),
                (['--epochs', '-3', 'a'], "--epochs needs a number from 0 to 1000000, not '-3'"),
                (['--seed', '4294967296', 'a'], '--seed needs a number from 0 to 4294967295'),
                (['--algorithm', 'bruck', 'a'], "--algorithm needs one of ring, linear, "),
                (['--reproducible=1', 'a'], "doesn't allow an argument"))
    check_unwritable('training', '--epochs', 3, printed='epoch 0: ')
    for num_localities in 0, 3:  # the ring adds in another order
        status, _, err = example('training', num_localities, '--reproducible', '--algorithm',
                                 'ring', '/none/OUT.pgm')
        check(status == 1 and err and all('the algorithm ring of all_reduce is not possible here: '
                                          'its result is not reproducible' in line
                                          for line in err.splitlines()), status, err)


if not needs('fft'):  # without FFTW
    print('fft: left out, it is not built')
    del test_fft, test_fft_sizes, test_fft_wrong

jobs.run_cases(globals())
