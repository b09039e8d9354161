# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import unittest

from mpi import COMPONENTS, Mpi, components


class Mpis(unittest.TestCase):
    def setUp(self):
        """Commands that only say something stand in for the MPIs."""
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.environ.update, PATH=os.environ["PATH"])
        os.environ["PATH"] = self.folder.name + ":" + os.environ["PATH"]

    def says(self, name, text, status=0):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncat <<'end'\n{text}\nend\nexit {status}\n")
        os.chmod(path, 0o755)

    def test_version(self):
        for name, text, version in (
                ("openmpi", "mpirun (Open MPI) 5.0.7\nReport bugs", "5.0.7"),
                ("openmpi", "mpirun.openmpi (OpenRTE) 4.1.4", "4.1.4"),
                ("mpich", "HYDRA build details:\n    Version:        4.0.2\n", "4.0.2"),
                ("mpich", "nothing", "of some version")):
            self.says("mpirun." + name, text)
            self.assertEqual(Mpi(name, "program", 180).version, version)

    def test_components(self):
        self.says("ompi_info", 'mca:coll:xhc:version:"mca:2.1.0"\nmca:pml:ucx:version:"mca:2.1.0"')
        self.assertEqual(components(), ["xhc"])
        self.says("ompi_info", "mca:coll:xhc:version:", 1)
        self.assertEqual(components(), [])

    def test_jobs(self):
        self.says("mpirun.openmpi", "")
        self.says("mpirun.mpich", "")
        job = Mpi("openmpi", "program", 180).job(4, ["a"], parameters=COMPONENTS["xhc"])
        self.assertEqual(" ".join(job.args), "mpirun.openmpi --oversubscribe --bind-to none "
                         "--allow-run-as-root --timeout 180 --mca coll_xhc_priority 100 -n 4 "
                         "program a")
        job = Mpi("mpich", "program", 180).job(4, ["a"], hosts=["-hosts", "b"])
        self.assertEqual((" ".join(job.args), job.variables),
                         ("mpirun.mpich -hosts b -n 4 program a", {"MPIEXEC_TIMEOUT": "180"}))


unittest.main()
