"""One check in progress: the original once, then every candidate on the original's inputs, judged as they end."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skel.store.schema import Finding, Place, Verdict

from .baseline import Base
from .findings import finding, from_fact
from .isolation import Outcome, Workers
from .numerics.cases import Case
from .protocol import Protocol
from .report import CandidateCheck
from .settle import Facts, settle, values_folder
from .subject import CandidateSource, Subject
from .verdicts import UNDECIDED, join, verdict_of, workload_verdict

Report = Callable[[str, dict[str, Any]], None]


class Session:
    """Runs one check on one set of workers. `exact` asks for equality to the bit."""

    def __init__(
        self,
        workers: Workers,
        subject: Subject,
        device: str,
        full: bool,
        exact: bool,
        reference_outranks: bool,
        numbers: Protocol,
        report: Report,
    ) -> None:
        self._workers = workers
        self._subject = subject
        self._device = device
        self._full = full
        self._exact = exact
        self._reference_outranks = reference_outranks
        self._numbers = numbers
        self._report = report
        exchange = workers.folder("exchange")
        exchange.chmod(0o755)
        measured = "interpreter" if not device.startswith("cuda") else device
        self.base = Base(subject.path, measured, workers.folder("original"), exchange)

    @property
    def workers(self) -> Workers:
        return self._workers

    @property
    def device(self) -> str:
        return self._device

    @property
    def on_gpu(self) -> bool:
        return self._device.startswith("cuda")

    def run_original(self) -> Base:
        """Runs the original and its reference, and judges them. Declared cases must run, or nothing can be judged."""
        base = self.base
        out = base.folder / "out"
        out.mkdir()
        payload = self._common() | {"subject": self._subject.to_dict(), "full": self._full, "out": str(out)}
        outcome = self._workers.submit(
            "original",
            payload,
            folder=base.folder,
            writable=(base.exchange,),
            subject_file=base.file,
            seconds=self._numbers.isolation.run_seconds,
        ).result()
        self._take_original(outcome)
        if base.usable:
            judged = self._workers.submit(
                "judge_original",
                self._judging()
                | {"cases": self._entries(base.runs), "probed": base.probed}
                | {"from_kernels": base.from_kernels, "undone": base.undone, "kernels": base.kernels},
                folder=self._workers.folder("judge"),
                seconds=self._numbers.isolation.run_seconds,
                trusted=True,
            ).result()
            self._take_judged_original(judged)
        self._report("original", {"seconds": outcome.seconds, "cases": len(base.runs), "usable": base.usable})
        return base

    def run_candidates(self, candidates: Sequence[CandidateSource]) -> list[CandidateCheck]:
        """Every candidate in its own worker, judged in another as soon as it ends; reports in the order given."""
        if not self.base.usable:
            return [
                CandidateCheck(
                    name=one.name, source_sha256=one.sha256, settings=one.settings, verdict=Verdict.INCONCLUSIVE
                )
                for one in candidates
            ]
        checked: dict[int, CandidateCheck] = {}
        with ThreadPoolExecutor(max_workers=max(1, len(candidates))) as pool:
            waiting = {pool.submit(self._check_one, one): number for number, one in enumerate(candidates)}
            try:
                for future in as_completed(waiting):
                    done = checked[waiting[future]] = future.result()
                    self._report(
                        "candidate", {"candidate": done.name, "verdict": done.verdict.value, "seconds": done.seconds}
                    )
            except BaseException:
                self._workers.close()  # the threads wait for workers: ending those lets them go
                raise
        return [checked[number] for number in range(len(candidates))]

    def _check_one(self, one: CandidateSource) -> CandidateCheck:
        """Waits for the candidate's worker, then for its judge; threads of the main process only wait here."""
        folder, running = self._start(one)
        outcome = running.result()
        values = values_folder(self._workers)
        judging = self._judge(folder, outcome, values)
        judged = judging.result() if judging else None
        asked, problems = self._ask(judged, values)
        checked = self._verdict(one, folder, outcome, judged, asked, problems)
        for done in (folder, values):
            shutil.rmtree(done, ignore_errors=True)
        return checked

    def _take_original(self, outcome: Outcome) -> None:
        base = self.base
        place = Place(file=base.file)
        plan = outcome.last("plan")
        if "no_hooks" in outcome.result:
            base.problems.append(
                finding(
                    "no_workload",
                    place,
                    severity="warning",
                    measured=base.measured,
                    file=base.file,
                    why=outcome.result["no_hooks"],
                )
            )
            return
        base.problems += [from_fact(fact, place, base.measured) for fact in outcome.facts("the original")]
        if plan is None:
            return
        base.cases = [Case(**entry) for entry in plan["cases"]]
        base.has_reference = plan["has_reference"]
        base.runs = {event["case"]: event["runs"] for event in outcome.all("ran")}
        base.from_kernels = {event["case"]: event["from_kernels"] for event in outcome.all("ran")}
        base.undone = {event["case"]: event for event in outcome.all("undone")}
        kernels = outcome.last("kernels") or {"names": [], "of_model": False}
        base.scratch = tuple((outcome.last("scratch") or {"names": ()})["names"])
        if base.scratch:
            base.problems.append(
                finding("scratch_not_compared", place, measured=base.measured, names=", ".join(base.scratch))
            )
        base.kernels, base.of_model = bool(kernels["names"]), kernels["of_model"]
        base.probed = outcome.all("probed")
        base.changed = [name for event in outcome.all("changed") for name in event["names"]]
        base.settings = {(one["name"], one["after"]) for event in outcome.all("changed") for one in event["process"]}
        base.rejected = {event["case"]: event["error"] for event in outcome.all("rejected")}
        for error in dict.fromkeys(e["reference_error"] for e in outcome.all("ran") if e.get("reference_error")):
            base.problems.append(
                finding(
                    "worker_raised",
                    place,
                    severity="warning",
                    measured=base.measured,
                    what="the reference",
                    error=error,
                )
            )
        loaded = outcome.last("loaded")
        base.launches_own_kernels = bool(loaded and _launched(base.runs, loaded["path"]))
        base.usable = all(case.id in base.runs for case in base.cases if case.kind == "declared")
        if base.usable:
            # A crash among stressed or varied cases only ends those: they are counted as skipped.
            base.problems = [f for f in base.problems if f.severity != "error"]

    def _take_judged_original(self, judged: Outcome) -> None:
        base, result = self.base, judged.result
        if not judged.done:
            base.usable = False
            base.problems += [
                from_fact(fact, Place(file=base.file), base.measured)
                for fact in judged.facts("the comparison of the original")
            ]
            return
        base.agrees, base.by_workload, base.sentinels = result["agrees"], result["findings"], result["sentinels"]
        base.rejected |= result["rejected"]
        base.probes, base.depends = result["probes"], result["depends"]

    def _start(self, one: CandidateSource) -> tuple[Path, Future[Outcome]]:
        folder = self._workers.folder(f"candidate-{one.sha256[:16]}")
        (folder / "out").mkdir()
        counted = self.base.counted()
        payload = self._common() | {
            "subject": self._subject.with_text(one.text).to_dict(),
            "out": str(folder / "out"),
            "full": self._full,
            "probes": [f"{one['case']}.{one['probe']}" for one in self.base.probed if one["error"] is None],
            "cases": [case.to_dict() for case in self.base.cases if case.id in counted],
        }
        return folder, self._workers.submit(
            "candidate",
            payload,
            folder=folder,
            subject_file=self.base.file,
            seconds=self._numbers.isolation.run_seconds,
        )

    def _judge(self, folder: Path, outcome: Outcome, values: Path) -> Future[Outcome] | None:
        runs = {event["case"]: event["runs"] for event in outcome.all("ran")}
        if not runs:
            return None
        payload = self._judging() | {
            "cases": self._entries(runs),
            "candidate_out": str(folder / "out"),
            "agrees": self.base.agrees,
            "original_runs": self.base.runs,
            "reference_outranks": self._reference_outranks,
            "probed": [one for one in outcome.all("probed") if one["case"] in runs],
            "original_probes": self.base.probes,
            "depends": self.base.depends,
            "rewrites_model": self.base.of_model and not (outcome.last("kernels") or {}).get("of_model"),
            "from_kernels": {event["case"]: event["from_kernels"] for event in outcome.all("ran")},
            "original_from_kernels": self.base.from_kernels,
            "scratch": self.base.scratch,
            "undone": {event["case"]: event for event in outcome.all("undone")},
            "values": str(values),
        }
        return self._workers.submit(
            "judge_candidate",
            payload,
            folder=self._workers.folder("judge"),
            writable=(values,),
            seconds=self._numbers.isolation.run_seconds,
            trusted=True,
        )

    def _ask(self, judged: Outcome | None, values: Path) -> tuple[Facts, list[Finding]]:
        """The answers to what the judge asks of the original."""
        if judged is None or not (questions := judged.result.get("questions")):
            return {}, []
        return settle(
            self._workers,
            self._judging(),
            self._subject.to_dict(),
            questions,
            values,
            {case.id: case.to_dict() for case in self.base.cases},
            self._numbers.isolation.run_seconds,
            Place(file=self.base.file),
            self.base.measured,
        )

    def _verdict(
        self,
        one: CandidateSource,
        folder: Path,
        outcome: Outcome,
        judged: Outcome | None,
        asked: Facts,
        problems: list[Finding],
    ) -> CandidateCheck:
        base = self.base
        own = [*self._own_findings(one, folder, outcome), *problems]
        cases: dict[str, list[dict[str, Any]]] = {}
        result: dict[str, Any] = {"cases": {}, "errors": {}, "findings": {}}
        if judged is not None and judged.done:
            result = judged.result
            cases = result["cases"]
        elif judged is not None:
            own += [
                from_fact(fact, Place(file=base.file), base.measured)
                for fact in judged.facts(f"the comparison of {one.name}")
            ]
        counted = base.counted()
        workloads = []
        for label in dict.fromkeys(case.workload for case in base.cases):
            members = [case for case in base.cases if case.workload == label]
            if any(case.id in counted for case in members):
                extra = result["findings"].get(label, []) + asked.get(label, [])
                extra += [f for f in base.by_workload.get(label, []) if f["code"] in UNDECIDED]
                workloads.append(
                    workload_verdict(
                        label, members, cases, counted, extra, result["errors"].get(label, {}), base.file, base.measured
                    )
                )
        verdict = join([verdict_of(own, Verdict.EQUIVALENT), *(workload.verdict for workload in workloads)])
        return CandidateCheck(
            name=one.name,
            source_sha256=one.sha256,
            settings=one.settings,
            verdict=verdict,
            workloads=tuple(workloads),
            findings=tuple(own),
            ran=self.ran({event["case"]: event["runs"] for event in outcome.all("ran")}),
            seconds=outcome.seconds,
            resident_megabytes=outcome.resident_megabytes,
        )

    def _own_findings(self, one: CandidateSource, folder: Path, outcome: Outcome) -> list[Finding]:
        """How the candidate's worker ended, and whether what ran is what was meant."""
        base, place = self.base, Place(file=self.base.file)
        found = [from_fact(fact, place, base.measured) for fact in outcome.facts(one.name)]
        loaded = outcome.last("loaded")
        if loaded is None:
            return found
        wrong = outcome.wrong_code(one.name, one.sha256, str(folder / Path(base.file).name))
        found += [from_fact(fact, place, base.measured) for fact in wrong]
        replaced = {name for event in outcome.all("changed") for name in event["names"]} - set(base.changed)
        for name in sorted(replaced)[:3]:
            found.append(
                finding("library_changed", place, severity="error", measured=base.measured, what=one.name, name=name)
            )
        for fields in (fields for event in outcome.all("changed") for fields in event["settings"]):
            fact = {"code": "device_setting_changed", "severity": "error", "data": {}, "fields": fields}
            found.append(from_fact(fact | {"fields": fields | {"what": one.name}}, place, base.measured))
        for fields in (fields for event in outcome.all("changed") for fields in event["process"]):
            if (fields["name"], fields["after"]) not in base.settings:
                fact = {"code": "setting_changed", "severity": "error", "data": {}}
                found.append(from_fact(fact | {"fields": fields | {"what": one.name}}, place, base.measured))
        runs = {event["case"]: event["runs"] for event in outcome.all("ran")}
        for kernel in sorted(_foreign(runs, loaded["path"])):
            found.append(
                finding(
                    "wrong_code_ran",
                    place,
                    severity="error",
                    measured=base.measured,
                    what=one.name,
                    ran=f"another source of {kernel}",
                    meant="the one in its file",
                )
            )
        if outcome.done and base.counted() - set(runs):
            found.append(
                finding(
                    "worker_crashed",
                    place,
                    severity="error",
                    measured=base.measured,
                    signal="cases left out",
                    what=one.name,
                )
            )
        if runs and base.launches_own_kernels and not _launched(runs, loaded["path"]):
            found.append(
                finding(
                    "launch_changed",
                    place,
                    severity="error",
                    measured=base.measured,
                    what=f"{one.name} launched no kernel of its own file",
                )
            )
        return found

    def ran(self, runs: dict[str, list[dict[str, Any]]]) -> tuple[dict[str, Any], ...]:
        """Every kernel that was launched: its file's name, how often, and the binaries it was compiled to."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for launch in (launch for facts in runs.values() for run in facts for launch in run["launches"]):
            key = (launch["kernel"], Path(launch["file"]).name)
            one = found.setdefault(key, {"kernel": key[0], "file": key[1], "count": 0, "binaries": [], "built": []})
            one["count"] += launch["count"]
            one["built"] += [built for built in launch["built"] if built not in one["built"]]
            one["binaries"] = sorted({*one["binaries"], *launch["binaries"]})
        return tuple(found.values())

    def _common(self) -> dict[str, Any]:
        return {
            "device": self._device,
            "numbers": asdict(self._numbers.correctness),
            "exchange": str(self.base.exchange),
        }

    def _judging(self) -> dict[str, Any]:
        return self._common() | {"exact": self._exact, "out": str(self.base.folder / "out")}

    def _entries(self, runs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
        return [{"case": case.to_dict(), "runs": runs[case.id]} for case in self.base.cases if case.id in runs]


def _foreign(runs: dict[str, list[dict[str, Any]]], path: str) -> set[str]:
    """Kernels that say they stand in the file at `path`, which holds other code."""
    launches = (launch for facts in runs.values() for run in facts for launch in run["launches"])
    return {launch["kernel"] for launch in launches if launch["file"] == path and launch["foreign"]}


def _launched(runs: dict[str, list[dict[str, Any]]], path: str) -> bool:
    """True where every case launched at least one kernel that stands in the file at `path`."""
    return bool(runs) and all(
        any(launch["file"] == path for launch in run["launches"]) for facts in runs.values() for run in facts
    )
