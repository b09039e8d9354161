# SPDX-License-Identifier: Apache-2.0
"""gdb: what the tasks of a program of Cohort wait for, and where. For a core file or a process.

    cohort status      who waits for whom: what `cohortrun --status` says of it
    cohort tasks       each task that waits, with a number
    cohort bt [N|all]  the backtrace of task N, or of all
    cohort events [N]  the last N calls, ends of calls and messages of each worker

gdb loads this file by itself with libcohort, if that is installed where gdb trusts it; else
`source cohort.py`. It needs no symbols of the library: the process has written it all into its
ledger (runtime/base/ledger_format.h), which is found by the name of its memory. A core file has it
unless /proc/PID/coredump_filter leaves shared anonymous memory out. Who waits for whom is for
cohortrun to say, which reads core files by itself; here is what needs a debugger."""
import collections
import os
import re
import shutil
import struct
import subprocess

import gdb
import gdb.unwinder

MAGIC = 0x72656764656c6863
VERSION = 11
REGION = 512 << 20
PAGE = 65536
HEAD_BYTES = 4096
CHUNKS = 224
MOST_LINES = 1 << 20
WORKERS, WAITS, SITES, GROUPS, INPUTS = 1, 2, 3, 4, 11
EVENTS = 4096  # of each worker
STRIDES = {WORKERS: 64 + EVENTS * 16, WAITS: 128, SITES: 64, GROUPS: 320, INPUTS: 128}
KINDS = ['a future', 'a task', 'a collective', 'a block from a channel (cohort_channel_get)',
         'the receiver of a block (cohort_channel_set)',
         "a communicator's other sites to join", 'several futures',
         'a timer, a file, a connection or a blocking call', 'a task of another locality',
         'its next turn', 'a mutex', 'a condition', 'a semaphore', 'a latch', 'a local barrier',
         'a queue']
TASK, SEVERAL = 1, 6
RANGE = 3  # of a line of inputs
NO_PROCESS = 'there is no process, and no core file'

Head = collections.namedtuple('Head', 'magic version epoch rank size pid stage stage_at status cut '
                              'first_cycles first_mono first_real last_cycles last_mono last_real '
                              'moved tasks key num_chunks')
Wait = collections.namedtuple('Wait', 'since caller what function task fiber outer outermost')
Inputs = collections.namedtuple('Inputs', 'seen_at of function scope num wanted kind')
Site = collections.namedtuple('Site', 'instance last_called task site rank number')
Worker = collections.namedtuple('Worker', 'thread seen_at event_bytes index is_idle')


def read(address, num):
    return bytes(gdb.selected_inferior().read_memory(address, num))


def text_of(raw):
    """Of a name of fixed length; no control characters reach a terminal."""
    text = raw.split(b'\0')[0].decode('utf-8', 'replace')
    return '"%s"' % ''.join(c if c.isprintable() and c not in '"\\' else '?' for c in text)


class Ledger:
    """That of the selected process. Nothing in it is trusted: the process may have gone wrong."""

    def __init__(self):
        if not gdb.selected_inferior().pid:
            raise gdb.GdbError(NO_PROCESS)
        self.maps = []  # where, how long, and of which place in the ledger's memory
        for line in gdb.execute('info proc mappings', to_string=True).split('\n'):
            words = line.split()
            if len(words) >= 5 and '/memfd:cohort-ledger' in line:
                begin, end, _, offset = (int(word, 16) for word in words[:4])
                self.maps.append((begin, end - begin, offset))
        self.head = None
        for begin, _, offset in self.maps:
            if offset % REGION:
                continue
            head = Head._make(struct.unpack('<QIIIIiIQiI6QQQQI', read(begin, 124)))
            if head.magic == MAGIC:
                self.head, self.begin, self.region = head, begin, offset
        if not self.head:
            raise gdb.GdbError('there is no ledger: this is no program of Cohort, or has not '
                               'begun, or its core file has no shared memory')
        if self.head.version != VERSION:
            raise gdb.GdbError('its ledger has version %d, this script knows %d: it is of another '
                               'version of the library' % (self.head.version, VERSION))

    def find(self, offset, num):
        """The address of NUM bytes at OFFSET of the region, or None."""
        at = self.region + offset
        for begin, size, place in self.maps:
            if place <= at and at + num <= place + size:
                return begin + at - place
        return None

    def lines(self, kind):
        """The lines of KIND that are in use."""
        stride = STRIDES[kind]
        chunks = read(self.begin + 512, 16 * CHUNKS)
        for i in range(min(self.head.num_chunks, CHUNKS)):
            of, wide, num, page = struct.unpack_from('<4I', chunks, 16 * i)
            if of != kind or wide != stride or num > MOST_LINES:
                continue
            address = self.find(page * PAGE, num * stride)
            if address is None:
                continue
            data = read(address, num * stride)
            for at in range(0, num * stride, stride):
                if data[at:at + 8] != b'\0' * 8:
                    yield data[at:at + stride]

    def seconds(self, cycles):
        """How long before the last tick of the process that was."""
        head = self.head
        passed = head.last_cycles - head.first_cycles
        rate = (head.last_mono - head.first_mono) / passed if passed > 0 else 0
        return max(0, (head.last_cycles - cycles) * rate / 1e9)

    def waits(self):
        """Those of tasks and threads, the oldest first."""
        waits = [Wait._make(struct.unpack_from('<8Q', line)) for line in self.lines(WAITS)]
        return sorted(waits, key=lambda wait: (wait.since, wait.fiber, wait.task))

    def inputs(self):
        """By the address of what waits for them: the line, and what is listed in it."""
        found = {}
        for line in self.lines(INPUTS):
            inputs = Inputs._make(struct.unpack_from('<6QI', line))
            listed = struct.unpack_from('<8Q', line, 64)
            found[inputs.of] = inputs, [what for what in listed if what]
        return found

    def sites(self):
        return [Site._make(struct.unpack_from('<3Q3I', line)) for line in self.lines(SITES)]

    def communicators(self):
        """The name of each instance."""
        return {struct.unpack_from('<Q', line)[0]: text_of(line[16:272])
                for line in self.lines(GROUPS)}


def name(address):
    """Of the function that ADDRESS is in, or ADDRESS."""
    found = gdb.execute('info symbol 0x%x' % address, to_string=True) if address else ''
    match = re.match(r'(\S+)( \+ \d+)? in section', found)
    return match[1] if match else '0x%x' % address


def place(wait):
    """Where it waits: "meet (halo.c:27)". A function that ends with an await has left the stack,
    and its caller, of the library, is named."""
    at = gdb.find_pc_line(wait.caller - 1) if wait.caller else None
    where = name(wait.caller - 1)
    if at and at.symtab:
        where += ' (%s:%d)' % (at.symtab.filename.split('/')[-1], at.line)
    return where + (', task %s' % name(wait.function) if wait.function else ' (outside of tasks)')


def kind(wait, inputs):
    """What it waits for; of a combinator, or a task that has yet to begin, with its inputs."""
    text = KINDS[wait.what & 15]
    if KINDS.index(text) not in (TASK, SEVERAL) or wait.what & ~15 not in inputs:
        return text
    line, listed = inputs[wait.what & ~15]
    if line.seen_at <= wait.since: # perhaps of another one, which had that address before
        return text
    if line.kind:
        return 'the end of a %s with %d %s%s left' % (
            *(('range', line.num, 'part') if line.kind == RANGE else ('scope', line.num, 'task')),
            's' if line.num > 1 else '')
    more = ['%d more' % (line.num - len(listed))] if line.num > len(listed) else []
    return '%s%d of %d pending futures: %s' % (
        'a task that begins after ' if line.function else '', line.wanted, line.num,
        ', '.join([KINDS[what & 15] for what in listed] + more))


class CohortCommand(gdb.Command):
    """What the tasks of a program of Cohort wait for, and what they have called: cohort status,
    cohort tasks, cohort events, cohort bt."""

    def __init__(self):
        super().__init__('cohort', gdb.COMMAND_STATUS, prefix=True)


def find_cohortrun():
    """That of the library which the program has loaded, or else the one in PATH."""
    for objfile in gdb.objfiles():
        folder, name = os.path.split(os.path.realpath(objfile.filename or ''))
        for below in ('tools', '../bin', '../../bin') if name.startswith('libcohort.so') else ():
            path = os.path.join(folder, below, 'cohortrun')
            if os.access(path, os.X_OK):
                return path
    path = shutil.which('cohortrun')
    if not path:
        raise gdb.GdbError('cohortrun, which says who waits for whom, is neither beside libcohort '
                           'nor in PATH')
    return path


def subject():
    """The core file that gdb has open, or the pid of the process, as text."""
    targets = gdb.execute('info target', to_string=True)
    core = re.search(r"core dump file:\n\s*[`'\u2018](.*)['\u2019], file type", targets)
    if core:
        return core[1]
    pid = gdb.selected_inferior().pid
    if not pid:
        raise gdb.GdbError(NO_PROCESS)
    if not re.search('^Native process', targets, re.MULTILINE):
        raise gdb.GdbError('this process is not on this host: write a core file of it with '
                           '"generate-core-file FILE", and say "cohortrun --status FILE"')
    return str(pid)


class StatusCommand(gdb.Command):
    """Say who waits for whom: cohort status [CORE...].

    That is what `cohortrun --status` says. Of a process it is of its whole job. Of a core file it
    is of this one, with those of the other localities that stand behind it."""

    def __init__(self):
        super().__init__('cohort status', gdb.COMMAND_STATUS, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        words = [find_cohortrun(), '--status', subject()]
        others = [os.path.expanduser(word) for word in gdb.string_to_argv(argument)]
        done = subprocess.run(words + others, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        gdb.write(done.stdout.decode('utf-8', 'replace'))
        if done.returncode:
            raise gdb.GdbError(done.stderr.decode('utf-8', 'replace').strip() or
                               'none of its localities can be read')


class TasksCommand(gdb.Command):
    """List each task that waits, with the number that `cohort bt` takes."""

    def __init__(self):
        super().__init__('cohort tasks', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        ledger = Ledger()
        inputs = ledger.inputs()
        for number, wait in enumerate(ledger.waits(), 1):
            print('%d: in %s for %s, for %.1f s' % (number, place(wait), kind(wait, inputs),
                                                    ledger.seconds(wait.since)))


COME = {2: 'data of a collective has come from locality %d, generation %d',
        3: 'data of a channel has come from locality %d, tag %d',
        4: 'a remote call or its result has come from locality %d, call %d'}


class EventsCommand(gdb.Command):
    """Print what each worker has done last with collectives: cohort events [N], by default 20.

    These are the calls of the process's sites, the ends of these calls, and data that has come for
    collectives, channels and remote tasks, the oldest first. An age is that of the worker's last
    look at the clock before the event, up to the last tick of the process. There are the last
    4096."""

    def __init__(self):
        super().__init__('cohort events', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        words = argument.split() or ['20']
        if len(words) > 1 or not re.fullmatch('[0-9]{1,4}', words[0]) or \
                not 1 <= int(words[0]) <= EVENTS:
            raise gdb.GdbError('cohort events needs a number from 1 to %d' % EVENTS)
        ledger = Ledger()
        names = ledger.communicators()
        sites = {site.number: 'site %d of %s' % (site.site, names.get(site.instance, '"?"'))
                 for site in ledger.sites()}
        workers = [(Worker._make(struct.unpack_from('<3Q2I', line)), line)
                   for line in ledger.lines(WORKERS)]
        for worker, line in sorted(workers, key=lambda one: one[0].index):
            self.print_worker(ledger, sites, worker, line, int(words[0]))

    def print_worker(self, ledger, sites, worker, line, most):
        total = worker.event_bytes // 16
        num = min(total, EVENTS, most)
        who = 'the progress thread' if worker.index == 0xffffffff else 'worker %d' % worker.index
        print('%s (thread %d)%s: %d events%s' % (
            who, worker.thread, ', which sleeps' if worker.is_idle else '', total,
            ', of which these are the last %d' % num if num < total else ''))
        for i in range(total - num, total):
            at, what = struct.unpack_from('<2Q', line, 64 + 16 * (i % EVENTS))
            print('  %.6f s ago: %s' % (ledger.seconds(max(at, ledger.head.first_cycles)),
                                        self.text(sites, what)))

    def text(self, sites, what):
        number, kind, generation = what & 0xfffff, what >> 20 & 15, what >> 24
        site = sites.get(number, 'a site that has left')
        if kind == 0:
            return '%s calls %d' % (site, generation)
        if kind == 1:
            return 'call %d of %s has ended' % (generation, site)
        if kind in COME:
            return COME[kind] % (number, generation)
        return 'something that this script does not know'


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class FiberUnwinder(gdb.unwinder.Unwinder):
    """While `stack_pointer` is set, what is under the innermost frame is not what has called it,
    but a fiber that waits. Its registers are where cohort__fiber_asm_swap (fiber_x86_64.S) has put
    them. A core file has no registers that could be changed, so it is done this way."""
    SAVED = ['r15', 'r14', 'r13', 'r12', 'rbx', 'rbp', 'rip']

    def __init__(self):
        super().__init__('cohort-fiber')
        self.stack_pointer = None
        self.innermost = None

    def __call__(self, pending_frame):
        if self.stack_pointer is None:
            return None
        sp = pending_frame.read_register('rsp')
        if int(sp) != self.innermost:
            return None
        unwinding = pending_frame.create_unwind_info(FrameId(
            gdb.Value(self.stack_pointer - 16).cast(sp.type), pending_frame.read_register('rip')))
        for i, register in enumerate(self.SAVED):
            value, = struct.unpack('<Q', read(self.stack_pointer + 8 + 8 * i, 8))
            unwinding.add_saved_register(
                register, gdb.Value(value).cast(pending_frame.read_register(register).type))
        unwinding.add_saved_register('rsp', gdb.Value(self.stack_pointer + 64).cast(sp.type))
        return unwinding

    def backtrace(self, fiber):
        """That of FIBER, as text."""
        stack_pointer, = struct.unpack('<Q', read(fiber, 8))
        selected = gdb.selected_frame()
        gdb.newest_frame().select()
        self.innermost = int(gdb.parse_and_eval('(unsigned long)$rsp'))
        self.stack_pointer = stack_pointer
        gdb.invalidate_cached_frames()
        try:
            frames = gdb.execute('backtrace', to_string=True)
        finally:
            self.stack_pointer = None
            gdb.invalidate_cached_frames()
        if selected.is_valid():
            selected.select()
        under = re.search('^#1 ', frames, re.MULTILINE)
        return frames[under.start():] if under else '(it can\'t be read)\n'


UNWINDER = FiberUnwinder()


class BacktraceCommand(gdb.Command):
    """Print the backtrace of a task that waits: cohort bt N, as in `cohort tasks`; or of all.

    Frame 0, that of the thread that is selected, is left out."""

    def __init__(self):
        super().__init__('cohort bt', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        ledger = Ledger()
        waits, inputs = ledger.waits(), ledger.inputs()
        if argument.strip() in ('', 'all'):
            numbers = range(1, len(waits) + 1)
        elif argument.strip().isdigit() and 1 <= int(argument) <= len(waits):
            numbers = [int(argument)]
        else:
            raise gdb.GdbError('cohort bt needs a number from 1 to %d, or all' % len(waits))
        if 'x86-64' not in gdb.selected_inferior().architecture().name():
            raise gdb.GdbError('backtraces of tasks are known for x86-64 only')
        for number in numbers:
            self.print_one(number, waits[number - 1], inputs)

    def print_one(self, number, wait, inputs):
        print('%d: in %s for %s' % (number, place(wait), kind(wait, inputs)))
        if wait.fiber:
            print(UNWINDER.backtrace(wait.fiber), end='')
        else:
            print('(on the stack of a thread: thread apply all bt)')


gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)
CohortCommand()
StatusCommand()
TasksCommand()
EventsCommand()
BacktraceCommand()
