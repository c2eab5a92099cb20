"""What evidence keeps of the compile check."""

from __future__ import annotations

from typing import Any

from skel.document import FIGURES, compile_evidence


def test_the_figures_of_the_original_and_of_the_chosen_candidate() -> None:
    figures = dict.fromkeys(FIGURES, 7)
    document: dict[str, Any] = {
        "compile": {
            "target": "sm_90",
            "workload": "w",
            "original": {"name": "original"} | figures,
            "reports": ["long"],
        },
        "candidates": [{"name": "a", "chosen": False}, {"name": "b", "chosen": True, "settings": {}} | figures],
    }
    kept = compile_evidence(document)
    assert kept == {
        "target": "sm_90",
        "workload": "w",
        "original": {"name": "original"} | figures,
        "candidate": {"name": "b"} | figures,
    }
    assert "candidate" not in compile_evidence(document | {"candidates": []})
    assert compile_evidence(document | {"compile": None}) == {}
