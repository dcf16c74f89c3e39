"""The module over the installed program: python -m unittest discover python/tests."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import dbstow

EXAMPLES = Path(__file__).parents[2] / "examples"

ARMS = {"local-ssd", "p30", "p30 (warm host cache)"}


class Run(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_quick(self) -> dbstow.Results:
        return dbstow.run("tempdb-ssd-vs-premium", self.folder / "results", quick=True)

    def test_findings_are_those_that_the_program_prints(self) -> None:
        results = self.run_quick()
        self.assertEqual(results.findings["schema"], "dbstow.findings/1")
        self.assertEqual(results.findings["comparisons"][0]["verdict"], "no-difference")
        rows = dbstow.findings(results.folder, "list")
        by_arm = {row["arm"]: row["mean"] for row in rows if row["metric"] == "elapsed_s"}
        for arm in results.findings["arms"]:
            self.assertEqual(by_arm[arm["name"]], arm["metrics"]["elapsed_s"]["mean"])
        published = [row["published"] for row in rows if row["metric"] == "mb_per_s"]
        self.assertIn(52.85, published)

    def test_there_is_a_record_for_each_trial(self) -> None:
        rows = dbstow.records(self.run_quick().folder, "list")
        # The quick settings have two blocks; the first of them also runs p30 with the host cache warm.
        self.assertEqual([row["block"] for row in rows], [0, 0, 0, 1, 1])
        self.assertEqual({row["arm"] for row in rows}, ARMS)
        self.assertTrue(all(row["finished"] for row in rows))
        self.assertTrue(all(row["elapsed_s"] > 0 and row["time.cpu_ns"] > 0 for row in rows))

    def test_files_that_are_no_records_of_the_plan_are_left_out_with_a_warning(self) -> None:
        folder = self.run_quick().folder
        (folder / "records" / "damaged.json").write_text('{"plan": ', encoding="utf-8")
        other = json.loads(next((folder / "records").glob("000-*.json")).read_text(encoding="utf-8"))
        other["plan"] = "0" * 16
        (folder / "records" / "other.json").write_text(json.dumps(other), encoding="utf-8")
        with self.assertWarnsRegex(UserWarning, "left out") as warned:
            rows = dbstow.records(folder, "list")
        self.assertEqual(len(rows), 5)
        self.assertEqual(len(warned.warnings), 2)

    def test_frames_of_what_is_installed(self) -> None:
        folder = self.run_quick().folder
        for frame in FRAMES:
            table = dbstow.records(folder, frame)
            self.assertEqual(type(table).__module__.split(".")[0], frame)
            self.assertEqual(table.shape[0], 5)
            self.assertEqual(set(table["arm"]), ARMS)
            self.assertEqual(dbstow.comparisons(folder, frame)["verdict"][0], "no-difference")
        if FRAMES:
            self.assertEqual(type(dbstow.records(folder)).__module__.split(".")[0], FRAMES[0])

    def test_a_finished_run_is_not_repeated(self) -> None:
        results = self.run_quick()
        records = sorted((results.folder / "records").iterdir())
        written = [record.stat().st_mtime_ns for record in records]
        self.assertEqual(self.run_quick().findings, results.findings)
        self.assertEqual([record.stat().st_mtime_ns for record in records], written)

    def test_settings_reach_the_program(self) -> None:
        results = dbstow.run(
            "postgres-wal-volume",
            self.folder / "results",
            quick=True,
            blocks=2,
            seed=7,
            set={"workload.duration": "1 s", "volume.data.iops": [3000, 6000]},
        )
        self.assertEqual((results.findings["blocks"], results.findings["seed"]), (2, 7))
        arms = [arm["name"] for arm in results.findings["arms"]]
        self.assertTrue(any("3000" in arm for arm in arms) and any("6000" in arm for arm in arms), arms)

    def test_a_mistake_is_the_programs_message(self) -> None:
        with self.assertRaisesRegex(dbstow.DbstowError, 'did you mean "tempdb-spill"') as raised:
            dbstow.run("tempdb-spil", self.folder / "results")
        self.assertEqual(raised.exception.exit_code, 2)

    def test_a_folder_without_results_is_refused(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "holds no results"):
            dbstow.records(self.folder)
        with self.assertRaisesRegex(dbstow.DbstowError, "holds no results"):
            dbstow.findings(self.folder)

    @unittest.skipIf(os.name == "nt", "Python cannot send Ctrl-C to a process of its own there")
    def test_an_interruption_ends_the_program_too(self) -> None:
        results = self.folder / "results"
        code = (
            "import dbstow, sys\n"
            "try: dbstow.run('tempdb-scale-out', sys.argv[1], blocks=500)\n"
            "except KeyboardInterrupt: print('interrupted')"
        )
        process = subprocess.Popen([sys.executable, "-c", code, results], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 120
        while not any((results / "records").glob("*.json")):
            self.assertLess(time.monotonic(), deadline, "no trial ended")
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=120)
        self.assertEqual(printed, "interrupted\n")
        # The folder is free again, so the program has ended.
        done = dbstow.run("tempdb-scale-out", results, quick=True, fresh=True)
        self.assertEqual(done.findings["experiment"], "tempdb-scale-out")


class Notebook(unittest.TestCase):
    @unittest.skipUnless(
        importlib.util.find_spec("pandas") and importlib.util.find_spec("matplotlib"),
        "the notebook needs pandas and matplotlib",
    )
    def test_the_notebook_runs_and_plots_what_was_found(self) -> None:
        import matplotlib

        matplotlib.use("Agg")
        notebook = json.loads((EXAMPLES / "scale-out.ipynb").read_text(encoding="utf-8"))
        names: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    exec("".join(cell["source"]), names)
        bars = [bar.get_height() for bar in names["axes"].patches]
        self.assertEqual(bars, list(names["rates"]["mean"]))
        # Fitted to the article and predicted: each is near what was published.
        for rate, published in zip(bars, names["rates"]["published"], strict=True):
            self.assertLess(abs(rate / published - 1), 0.1)


class Program(unittest.TestCase):
    def test_python_m_is_the_program(self) -> None:
        ran = subprocess.run([sys.executable, "-m", "dbstow", "--version"], capture_output=True, text=True)
        self.assertRegex(ran.stdout, r"^dbstow \d+\.\d+\.\d+")


FRAMES = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]

if __name__ == "__main__":
    unittest.main()
