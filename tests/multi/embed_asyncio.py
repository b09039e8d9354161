# SPDX-License-Identifier: Apache-2.0
"""Within Python's asyncio, by ctypes. Usage: embed_asyncio.py LIBCOHORT sum|twice"""
import asyncio
import ctypes
import sys
import threading

NUM_ROUNDS = 20
COHORT_ERR_CANCELLED = -10
COHORT_INT64 = 0x7479706500000005

lib = ctypes.CDLL(sys.argv[1])
Callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
Task = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
for name, result in (('cohort_error_message', ctypes.c_char_p),
                     ('cohort_comm_create_sized', ctypes.c_void_p),
                     ('cohort_all_reduce', ctypes.c_void_p), ('cohort_async', ctypes.c_void_p),
                     ('cohort_locality', ctypes.c_uint32),
                     ('cohort_num_localities', ctypes.c_uint32)):
    getattr(lib, name).restype = result
lib.cohort_callbacks_add.argtypes = [ctypes.c_void_p, ctypes.c_void_p, Callback, ctypes.c_void_p]
lib.cohort_all_reduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                  ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p,
                                  ctypes.c_uint64]
lib.cohort_async.argtypes = [Task, ctypes.c_void_p]
lib.cohort_comm_unref.argtypes = [ctypes.c_void_p]
lib.cohort_comm_unref.restype = None


class CommOptions(ctypes.Structure):
    """The beginning of cohort_comm_options."""
    _fields_ = [('num_sites', ctypes.c_uint32), ('this_site', ctypes.c_uint32)]


class CohortError(Exception):
    def __init__(self, status):
        super().__init__(lib.cohort_error_message().decode())
        self.status = status


def check(status):
    if status:
        raise CohortError(status)


class Callbacks:
    """Futures of Cohort as those of the running loop."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.waiting = {}
        self.callback = Callback(self.complete)
        self.handle = ctypes.c_void_p()
        check(lib.cohort_callbacks_create(ctypes.byref(self.handle)))
        self.fd = lib.cohort_callbacks_fd(self.handle)
        self.loop.add_reader(self.fd, self.run)

    def run(self):
        check(lib.cohort_callbacks_run(self.handle, ctypes.c_size_t(0), None))

    def complete(self, status, _, number):
        future, thread = self.waiting.pop(number)
        assert thread == threading.get_ident()
        if status:
            future.set_exception(CohortError(status))
        else:
            future.set_result(None)

    def future(self, handle):
        """To be awaited. Takes the reference to HANDLE."""
        future = self.loop.create_future()
        self.waiting[id(future)] = future, threading.get_ident()
        check(lib.cohort_callbacks_add(self.handle, handle, self.callback, id(future)))
        return future

    def destroy(self):
        self.loop.remove_reader(self.fd)
        check(lib.cohort_callbacks_destroy(self.handle))
        assert not self.waiting


async def add_up(callbacks):
    size, rank = lib.cohort_num_localities(), lib.cohort_locality()
    comm, done = ctypes.c_void_p(), []
    options = CommOptions(size, rank)
    await callbacks.future(lib.cohort_comm_create_sized(
        ctypes.byref(comm), b'embed', ctypes.byref(options),
        ctypes.c_size_t(ctypes.sizeof(options))))
    mine, total = ctypes.c_int64(), ctypes.c_int64()
    task = Task(lambda _: done.append(threading.get_ident()) or 0)
    for generation in range(1, NUM_ROUNDS + 1):
        mine.value = rank + 1 + generation
        await callbacks.future(lib.cohort_all_reduce(
            comm, ctypes.byref(mine), ctypes.byref(total), 1,
            COHORT_INT64,
            ctypes.c_void_p.in_dll(lib, 'COHORT_SUM'), generation))
        assert total.value == size * (size + 1) // 2 + size * generation
        await callbacks.future(lib.cohort_async(task, None)) # a task in Python, on a worker
        await asyncio.sleep(0)
    assert len(done) == NUM_ROUNDS and threading.get_ident() not in done
    lib.cohort_comm_unref(comm)
    return total.value


async def tick(ticks):
    while True:
        ticks.append(1)
        await asyncio.sleep(0.001)


async def main():
    ticks = []
    ticker = asyncio.ensure_future(tick(ticks))
    check(lib.cohort_start_sized(None, ctypes.c_size_t(4)))
    callbacks = Callbacks()
    promise, never = ctypes.c_void_p(), ctypes.c_void_p()
    check(lib.cohort_promise_create(ctypes.byref(promise), ctypes.byref(never)))
    pending = callbacks.future(never)
    total = await add_up(callbacks)
    # The loop goes on meanwhile.
    check(await callbacks.loop.run_in_executor(None, lib.cohort_stop, 0))
    try:
        await pending
        assert False
    except CohortError as error:
        assert error.status == COHORT_ERR_CANCELLED, error
        assert 'the runtime has ended before' in str(error), error
    lib.cohort_promise_fulfil(promise, None)
    callbacks.destroy()
    ticker.cancel()
    assert ticks
    print(f'asyncio: locality {lib.cohort_locality()} of {lib.cohort_num_localities()}: '
          f'sum {total}', flush=True)


for _ in range(2 if sys.argv[2] == 'twice' else 1):
    asyncio.run(main())
