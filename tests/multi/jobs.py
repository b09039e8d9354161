# SPDX-License-Identifier: Apache-2.0
"""Jobs under test, whose launcher is the first argument of the program.

A test waits for a line, an end of file or a process, each with a deadline (TIMEOUT) that is reached
only on failure. Nothing here sleeps, but between two looks at what is not there yet (pause). Each
job gets a variable of its own in its environment, by which its processes are found in /proc
afterwards: none may be left over. A process that has lost its parent becomes a child of this
process, so it is found in any case."""
import contextlib
import ctypes
import os
import re
import select
import subprocess
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
COHORTRUN = os.path.abspath(sys.argv[1])
# So long as if the machine had much other load, or was suspended for a minute.
TIMEOUT = 600 if '--long' in sys.argv else 240
MARK = 'COHORT_TEST_MARK'
# Of hosts that cohort-compare makes (tools/bench/compare/hosts.py).
HOSTS_AGENT = '/run/agent'
HOSTS_TMP = '/run/tmp'
# The leak check stops all threads, and says so of one that ends meanwhile, whose registers it does
# not need then.
LEAK_CHECK = re.compile(r'.*==\d+==Unable to get registers from thread \d+\.\n')
# Also for programs that start jobs themselves.
os.environ['LSAN_OPTIONS'] = 'print_suppressions=0:suppressions=' + os.path.join(
    os.path.dirname(os.path.abspath(__file__)), 'lsan.supp')
# As in meson.build.
os.environ['ASAN_OPTIONS'] = 'intercept_tls_get_addr=0'
# hwloc, also in mpirun, prints a warning if a chroot has no /sys.
os.environ['HWLOC_HIDE_ERRORS'] = '2'
# Only saves time, so a build of single programs may lack it.
NO_KALLSYMS = os.path.join(os.path.dirname(COHORTRUN), '..', 'tests', 'multi', 'libno_kallsyms.so')
if os.path.exists(NO_KALLSYMS):
    os.environ['LD_PRELOAD'] = os.path.realpath(NO_KALLSYMS)
num_jobs = 0
jobs_of_case = []
# Further options for cohortrun, as a function of the number of localities. None by default.
launcher_options = lambda size: []


class Failed(Exception):
    pass


class Skipped(Exception):
    """By a case that can't be run here. It is printed as such, and is no failure."""


def check(condition, *what):
    if not condition:
        raise Failed(' '.join(str(w) for w in what))


def pause(seconds=0.01):
    """Between two looks, of which each would take a core from what they wait for."""
    time.sleep(seconds)


def check_equal(got, want):
    check(got == want, 'got', repr(got), 'instead of', repr(want))


def far_hosts(size):
    """Options for two hosts that an agent reaches. Both are in fact this host."""
    names = 'a:%d' % ((size + 1) // 2) + (',b:%d' % (size // 2) if size > 1 else '')
    return ['--hosts', names, '--listen', '127.0.0.1', '--agent', 'env COHORT_TEST_HOST={host}']


def netns_hosts(names):
    """The same for hosts that namespaces.py has made."""

    def options(size):
        share, rest = divmod(size, len(names))
        slots = [share + (i < rest) for i in range(len(names))]
        return ['--hosts', ','.join('%s:%d' % host for host in zip(names, slots) if host[1]),
                '--listen', '10.77.0.1', '-x', 'TMPDIR=' + HOSTS_TMP,
                '--agent', HOSTS_AGENT + ' {host}']
    return options


if 'COHORT_TEST_NETNS' in os.environ:
    launcher_options = netns_hosts(os.environ['COHORT_TEST_NETNS'].split(','))
elif '--far' in sys.argv:
    launcher_options = far_hosts


class Job:
    """Starts cohortrun with pipes. Its processes are marked."""

    def __init__(self, *args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **options):
        global num_jobs
        num_jobs += 1
        self.mark = '%s=%d.%d' % (MARK, os.getpid(), num_jobs)
        env = dict(os.environ, **dict([self.mark.split('=')]))
        args = [str(a) for a in args]
        if args[:1] == ['-n'] and args[1:2] and args[1].isdigit():
            args[2:2] = launcher_options(int(args[1]))
        self.process = subprocess.Popen([COHORTRUN] + args, env=env,
                                        stdin=stdin, stdout=stdout, bufsize=0,
                                        stderr=subprocess.PIPE, **options)
        jobs_of_case.append(self)

    def finish(self, data=None):
        """Waits for the job. Returns status, stdout and stderr, and checks that no process is left
        over."""
        try:
            out, err = self.process.communicate(data, TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed('cohortrun does not end')
        self.check_nothing_left()
        return self.process.returncode, (out or b'').decode(), LEAK_CHECK.sub('', err.decode())

    def read_lines(self, num):
        return [self.process.stdout.readline().decode() for _ in range(num)]

    def clean_up(self):
        """After a failure, when the job's processes have ended."""

    def processes(self):
        """The pids of processes that have the mark in their environment, except zombies."""
        pids = []
        for name in os.listdir('/proc'):
            if name.isdigit() and self.mark.encode() in read_proc(name, 'environ').split(b'\0'):
                pids.append(int(name))
        return pids

    def await_processes(self, num):
        """Waits until so many processes exist at the same time. A process that is just executing
        another program has no environment for a moment."""
        deadline = time.monotonic() + TIMEOUT
        while len(self.processes()) < num:
            check(time.monotonic() < deadline, 'only', self.processes())
            pause()

    def await_rest(self):
        """Waits until all of its processes sleep at the same time. Then none of them continues by
        itself."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            before = self.switches()
            if None not in before.values() and before == self.switches():
                return
            check(time.monotonic() < deadline, 'it never rests')
            pause()

    def switches(self):
        """How often each process has given up its core. None for a process that has a core or wants
        one."""
        found = {}
        for pid in self.processes():
            status = read_proc(pid, 'status')
            counts = re.findall(rb'ctxt_switches:\s*(\d+)', status)
            found[pid] = counts if re.search(rb'State:\s*S', status) else None
        return found

    def daemon_of(self, host):
        """The pid of HOST's node daemon."""
        for pid in self.processes():
            words = read_proc(pid, 'cmdline').split(b'\0')
            environment = read_proc(pid, 'environ').split(b'\0')
            if words[1:2] == [b'--node'] and b'COHORT_TEST_HOST=' + host.encode() in environment:
                return pid
        raise Failed('no daemon on host ' + host)

    def check_nothing_left(self, wait=False):
        """If WAIT, the guardians may still be cleaning up."""
        if wait:
            await_orphans()
        left = self.processes()
        check(not left and not has_children(), 'processes left:', left)


@contextlib.contextmanager
def control_group(controller, version_1, version_2):
    """A control group with a limit: the files of each version, and what is written into them.
    Returns its folder. Skips the case where none can be made."""
    is_new = os.path.exists('/sys/fs/cgroup/cgroup.controllers')
    folder = '/sys/fs/cgroup%s/cohort-test-%d' % ('' if is_new else '/' + controller, os.getpid())
    try:
        os.mkdir(folder)
    except OSError as error:
        raise Skipped('no control group can be made: %s' % error)
    try:
        for name, value in (version_2 if is_new else version_1).items():
            try:
                with open(os.path.join(folder, name), 'w') as f:
                    f.write(str(value))
            except OSError as error:
                raise Skipped('no control group for %s can be made: %s' % (controller, error))
        yield folder
    finally:
        os.rmdir(folder)


def last_error():
    return os.strerror(ctypes.get_errno())


def mount(target, flags, source=None, kind=None):
    return LIBC.mount(source, target, kind, flags, None) == 0


def make_mounts_private():
    """Enters a mount namespace of this process, so that mounts are not visible outside. In a chroot
    / may not be a mount point. Then it is made one, with everything below it. Returns False if that
    is not permitted."""
    MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
    if mount(b'/', MS_REC | MS_PRIVATE):
        return True
    if not mount(b'/', MS_BIND | MS_REC, b'/'):
        return False
    # The new mount is on top of the old /, and this process is still in the old one.
    folder = os.getcwd()
    os.chdir('/..')
    os.chroot('.')
    os.chdir(folder)
    return mount(b'/', MS_REC | MS_PRIVATE)


def leave_shared_memory():
    """If it is permitted, /dev/shm from now on belongs only to this program and its jobs. So
    everything that is left there comes from them."""
    CLONE_NEWNS = 0x20000
    if LIBC.unshare(CLONE_NEWNS) == 0 and make_mounts_private():
        mount(b'/dev/shm', 0, b'none', b'tmpfs')


def adopt_orphans():
    """Processes that a job leaves behind become children of this process."""
    PR_SET_CHILD_SUBREAPER = 36
    check(LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, 'prctl')


def read_proc(pid, name):
    """Empty if the process, or the thread, has ended. It may end at any time."""
    try:
        with open('/proc/%s/%s' % (pid, name), 'rb') as f:
            return f.read()
    except OSError:
        return b''


def is_running(pid, program):
    try:
        return os.path.samefile('/proc/%d/exe' % pid, program)
    except OSError:
        return False


def send_signal(pid, number):
    """Kills the process, unless it has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def children_of(pid):
    with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
        return [int(child) for child in f.read().split()]


def has_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except ChildProcessError:
        return False


def await_orphans():
    """Waits until processes whose parents have been killed have ended, too."""
    while has_children():
        for pid in children_of(os.getpid()):
            wait_for_end(pid)
            os.waitpid(pid, 0)


def end_jobs():
    """The processes that a failed case has left behind."""
    for job in jobs_of_case:
        job.process.kill()
        job.process.wait()
    await_orphans()
    for job in jobs_of_case:
        job.clean_up()


def wait_for_end(pid):
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return # the process has ended, and its parent knows
    try:
        check(select.select([fd], [], [], TIMEOUT)[0], 'process', pid, 'does not end')
    finally:
        os.close(fd)


# The limit of a silent host, in seconds.
LIMIT = 1.5
SILENT = ['--heartbeat', 0.2, '--heartbeat-timeout', LIMIT]


def await_told(job, take_away):
    """JOB is that of survive_member, way `wait`, on two hosts with two localities each. TAKE_AWAY
    does so with the second host. How long it took until both of the first one were told, and the
    first host's lines."""
    ready = sum(bool(re.match(r'\d ready', line)) for line in job.read_lines(4))
    check_equal(ready, 4)
    start = time.monotonic()
    take_away()
    lines, told = [], {}
    while len(lines) < 4 and told is not None:
        line = job.process.stdout.readline().decode()
        check(line, 'the job has ended after', lines)
        match = re.match(r'[01] (told at (\S+): .*|shrunk: fine)', line)
        if match:
            lines.append(line)
        elif re.match('[01] shrunk: ', line):
            continue
        if match and match[2]:
            told[line[0]] = float(match[2]) - start
    check_equal(sorted(told), ['0', '1'])
    return max(told.values()), lines


def run(*args, data=None, **options):
    if data is not None:
        options['stdin'] = subprocess.PIPE
    return Job(*args, **options).finish(data)


def run_cases(names, prefix='test_', chosen=None):
    """Runs the functions whose names begin with PREFIX, or those that are CHOSEN. Ends the
    program."""
    chosen = sys.argv[3:] if chosen is None else chosen
    adopt_orphans()
    num_failed = 0
    for name, function in list(names.items()):
        if not name.startswith(prefix) or chosen and name[len(prefix):] not in chosen:
            continue
        start = time.monotonic()
        jobs_of_case.clear()
        try:
            function()
            result = 'ok'
        except Skipped as skipped:
            result = 'skipped: %s' % skipped
        except Failed as failure:
            result = 'FAILED: %s' % failure
            num_failed += 1
            end_jobs()
        print('%s: %s (%.2f s)' % (name[len(prefix):], result, time.monotonic() - start),
              flush=True)
    sys.exit(1 if num_failed else 0)
