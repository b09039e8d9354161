#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first day, on an empty Debian. In one of them the checkout: all commands of README.md and
docs/BUILDING.md, with the tests and the packages (commands.py lists those that are not run, and
why). In others these packages, as somebody who is new has them: installed as docs/BUILDING.md says,
the tutorial as a plain user, with its last step on two hosts by ssh, a project of one's own by
pkg-config, CMake and meson, manual pages and completions, a small and no /dev/shm, the packages'
own tests by autopkgtest, and a purge that leaves nothing.

Skipped without root, debootstrap or a mirror of Debian (the one of apt here is used). Takes an
hour, and 8 GB below the folder for temporary files, which are removed.

usage: empty_debian.py ROOT [FOLDER]      FOLDER: packages that tools/package has made: only these
                                          are tried, not the checkout"""
import contextlib
import gzip
import os
import re
import shutil
import sys
import tempfile

import commands
import debian
import house
import shown

TOOLS = ("apt-get", "autopkgtest", "debootstrap", "ip", "nsenter", "unshare")
PACKAGES = "libcohort0 libcohort0-dbgsym libcohort-dev cohort-tools cohort-tools-dbgsym"
SCRIPTS = ("build-and-run", "build-by-cmake", "build-by-meson")
# Where the name of a package may remain: what the user has made, and what apt remembers.
KEPT = re.compile(r"/(home|root|var/(log|cache|lib/apt))/.*")


def step(text):
    print("--", text, flush=True)


def copy_checkout(root, tree, user):
    """The checkout in the user's home, without what was built in it."""
    home = "root" if user == "root" else f"home/{user}"
    folder = tree.path(f"{home}/cohort")
    shutil.copytree(root, folder, symlinks=True,
                    ignore=lambda where, names: [
                        name for name in names if name == ".git"
                        or (where == root and name.startswith("build"))])
    tree.need(f"chown -R {user}: /{home}/cohort")


def checkout(root, tree, folder):
    """Runs the commands of the pages, and copies the packages into FOLDER."""
    for user in ("root", debian.USER):
        copy_checkout(root, tree, user)
    # As one answers apt's question.
    tree.write("etc/apt/apt.conf.d/yes", 'APT::Get::Assume-Yes "true";\n')
    wrong, found = [], commands.blocks(root)
    for block in found:
        step(f"{block.page}: {'; '.join(block.lines)}")
        said, status = tree.run(f"cd cohort\n{block.script()}",
                                debian.USER if block.is_users else "root", limit=3600)
        if status:
            wrong.append(f"{block.page}: status {status}\n{block.script()}\n{said}")
    if wrong:
        house.finish(wrong, len(found))
    shutil.copytree(tree.path("root/cohort/build-packages"), folder)
    return len(found)


def as_documented(root, page, begin):
    """The line of PAGE that begins so."""
    found = re.findall(rf"^    ({re.escape(begin)}.*?)(?: +# .*)?$", house.read(root, page), re.M)
    if len(found) != 1:
        house.finish([f"{page}: {len(found)} lines begin with: {begin}"], 1)
    return found[0]


def expect(said, wanted, command):
    if wanted not in said:
        house.finish([f"{command}: does not say '{wanted}', but:\n{said}"], 1)


def files_of(packages):
    """The packages in that folder: their files, by name."""
    return {name.split("_")[0]: os.path.join(packages, name) for name in os.listdir(packages)
            if name.endswith(".deb")}


def install(trees, root, packages):
    """Host a gets all packages, as documented. Host b runs programs, so it needs two of them."""
    a, b = trees.values()
    for tree in (a, b):
        os.mkdir(tree.path("root/build-packages"))
        for path in files_of(packages).values():
            shutil.copy(path, tree.path("root/build-packages"))
    command = as_documented(root, "docs/BUILDING.md", "apt install ./build-packages/*.deb")
    a.need(f"DEBIAN_FRONTEND=noninteractive {command} --yes", limit=1200)
    b.install("openssh-server", "./build-packages/libcohort0_*.deb",
              "./build-packages/cohort-tools_*.deb")


@contextlib.contextmanager
def reached_by_ssh(a, b):
    """The user of host a gets to host b by a key, and has been there once."""
    key = ".ssh/id_ed25519"
    a.need(f"mkdir -m 700 .ssh && ssh-keygen -q -t ed25519 -N '' -f {key}", debian.USER)
    b.need("mkdir -m 700 .ssh", debian.USER)
    b.write(f"home/{debian.USER}/.ssh/authorized_keys", a.need(f"cat {key}.pub", debian.USER))
    b.need("mkdir -p /run/sshd")
    with b.start("/usr/sbin/sshd -D") as sshd:
        try:
            # It listens a little later.
            a.need("ssh -o ConnectionAttempts=60 -o StrictHostKeyChecking=accept-new b true",
                   debian.USER)
            yield
        finally:
            sshd.kill()


def tutorial(a, root):
    """What is wrong with the tutorial: its files and commands, in a folder of the user's on host a.
    Its last step needs the program on host b, too."""
    a.need("mkdir tutorial", debian.USER)
    copy = as_documented(root, "docs/TUTORIAL.md", "ssh b mkdir")

    def run(command):
        if command.startswith("cohortrun --hosts"):
            a.need(f"cd tutorial && {copy}", debian.USER)
        return a.run(f"cd tutorial && {command}", debian.USER, limit=120)

    folder = a.path(f"home/{debian.USER}/tutorial")
    wrong, num = shown.check_page(house.read(root, "docs/TUTORIAL.md"), folder, run)
    return [f"docs/TUTORIAL.md: {complaint}" for complaint in wrong], num


def source_tree(root, packages, folder):
    """What a package's own tests are taken from: a Debian source tree without the sources."""
    shutil.copytree(os.path.join(root, "examples"), os.path.join(folder, "examples"))
    shutil.copytree(os.path.join(root, "tools/packaging/debian"), os.path.join(folder, "debian"))
    with tempfile.TemporaryDirectory() as scratch:
        debian.need("dpkg-deb", "--extract", files_of(packages)["libcohort0"], scratch)
        with gzip.open(os.path.join(scratch, "usr/share/doc/libcohort0/changelog.gz")) as log, \
                open(os.path.join(folder, "debian/changelog"), "wb") as file:
            file.write(log.read())


def projects(a, root, packages):
    """A project of the user's by each of the three, and the examples."""
    a.install("cmake", "gdb", "make", "man-db", "meson")
    folder = a.path(f"home/{debian.USER}/packages")
    source_tree(root, packages, folder)
    for script in SCRIPTS:
        a.need(f"cd packages && debian/tests/{script}", debian.USER)
    command = as_documented(root, "docs/BUILDING.md", "cp -r /usr/share/doc/libcohort-dev")
    a.need(f"{command} examples/transpose examples/picture.pgm", debian.USER)
    for command, wanted in (
            ("cd cohort && cohortrun -n 4 build/examples/transpose --check "
             "build/examples/picture.pgm out.pgm", "equal to a serial transpose"),
            ("man cohort_all_reduce", "cohort_all_reduce(3)"),
            ("man cohortrun", "--hostfile"),
            (". /usr/share/bash-completion/completions/cohortrun && complete -p cohortrun",
             "cohortrun"),
            ("gdb -batch -ex 'help cohort' /usr/lib/*/libcohort.so.0", "cohort status"),
            ("gdb -batch -ex 'info line cohort_await' /usr/lib/*/libcohort.so.0", ".c\" starts")):
        expect(a.need(command, debian.USER), wanted, command)


def without_shm(a):
    """Nothing is left in /dev/shm by now, and Cohort works without one."""
    a.need("test -z $(ls -A /dev/shm)")
    debian.need("umount", a.path("dev/shm"))
    os.rmdir(a.path("dev/shm"))
    command = "cd tutorial && cohortrun -n 4 ./pi"
    expect(a.need(command, debian.USER), "8 sites, 4 processes", command)


def own_tests(empty, packages, tree):
    """The packages' own tests, by autopkgtest, which installs the packages. Temporary files are
    those of that system: our folder for them is not there."""
    debian.need("env", "-u", "TMPDIR", "autopkgtest", "--no-built-binaries",
                *files_of(packages).values(), tree + "/", "--", "chroot", empty.folder, limit=1800)


def purge(a):
    """What is left of the packages."""
    a.need(f"DEBIAN_FRONTEND=noninteractive apt-get purge -qy {PACKAGES}")
    said = a.need("find / -xdev -iname '*cohort*'; find /tmp -mindepth 1")
    return [f"left after the purge: {path}" for path in said.splitlines()
            if not KEPT.fullmatch(path)]


def main():
    root, *packages = sys.argv[1:]
    root = os.path.realpath(root)
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        house.skip(f"there is no {', '.join(missing)}; tools/install-deps --packages installs it")
    folder = debian.own_namespaces()
    mirror = debian.find_mirror()
    step("an empty Debian")
    empty = debian.bootstrap(os.path.join(folder, "empty"), mirror)
    num_commands = 0
    if packages:
        packages = os.path.realpath(packages[0])
    else:
        packages = os.path.join(folder, "packages")
        tree = empty.copy(os.path.join(folder, "checkout"))
        tree.mount()
        num_commands = checkout(root, tree, packages)

    step("the packages, on two more")
    trees = {name: empty.copy(os.path.join(folder, name)) for name in ("a", "b")}
    a, b = trees.values()
    for tree in (empty, a, b):
        tree.mount()
    install(trees, root, packages)
    with debian.hosts(trees), reached_by_ssh(a, b):
        step("the tutorial, on two hosts")
        wrong, num = tutorial(a, root)
    step("projects by pkg-config, CMake and meson; the examples, manual pages, symbols")
    projects(a, root, packages)
    without_shm(a)
    step("purge")
    wrong += purge(a)
    step("the packages' own tests")
    own_tests(empty, packages, a.path(f"home/{debian.USER}/packages"))
    house.finish(wrong, num_commands + num + len(SCRIPTS) + 1)


main()
