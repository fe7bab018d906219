"""A real cluster on the loopback interface: one master and two workers, each a process of its own, ended by their ids."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pyspark

HOST = "127.0.0.1"

# Short runs: what the second compiler takes to make code fast is never earned back here.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Cluster:
    """Started by hand: the package from PyPI has no scripts for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self.page = _free_port(), _free_port()
        self.master = f"spark://{HOST}:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        deploy = "org.apache.spark.deploy"
        self._start("master", f"{deploy}.master.Master", "--host", HOST, "--port", str(self.port), "--webui-port", str(self.page))
        try:
            self._wait(lambda state: state is not None)
            for number in range(2):
                worker = ["--host", HOST, "--cores", "1", "--memory", "2g", "--webui-port", str(_free_port())]
                place = ["--work-dir", str(folder / f"worker{number}"), self.master]
                self._start(f"worker{number}", f"{deploy}.worker.Worker", *worker, *place)
            self._wait(lambda state: state is not None and state["aliveworkers"] == 2)
        except BaseException:
            self.stop()
            raise

    def _start(self, name: str, *arguments: str) -> None:
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
            "PYSPARK_PYTHON": sys.executable,
        }
        (self.folder / "scratch").mkdir(exist_ok=True)
        log = open(self.folder / f"{name}.log", "wb")
        command = [str(home / "bin" / "spark-class"), *arguments]
        self.processes.append(
            subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        )

    def state(self) -> Any:
        """What the master says of itself."""
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.page}/json/", timeout=2) as answer:
                return json.load(answer)
        except OSError:
            return None

    def _wait(self, ready: Any) -> None:
        deadline = time.monotonic() + 90
        while not ready(self.state()):
            if time.monotonic() > deadline or any(process.poll() is not None for process in self.processes):
                logs = [path.read_text()[-2000:] for path in sorted(self.folder.glob("*.log"))]
                raise RuntimeError("the cluster did not start:\n" + "\n".join(logs))
            time.sleep(0.1)

    def executors(self) -> list[int]:
        """The processes that run tasks, which are children of the workers."""
        workers = {process.pid for process in self.processes[1:]}
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                stat = (entry / "stat").read_text()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            if parent in workers and b"CoarseGrainedExecutorBackend" in command:
                found.append(int(entry.name))
        return sorted(found)

    def stop(self) -> None:
        """Ends all that was started here."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(20)


def session(master: str, folder: Path, options: str = QUICK) -> Any:
    """One application for all tests."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = HOST
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": options,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "driver"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
        "spark.task.maxFailures": "4",
    }
    builder = SparkSession.builder.master(master).appName("lookalike")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made
