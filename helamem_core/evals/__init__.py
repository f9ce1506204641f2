"""Benchmarks of the memory, each `run_...(options) -> Report`; `helamem bench` is their command."""

from helamem_core.evals.dialogue import DialogueOptions, run_dialogue
from helamem_core.evals.latency import LatencyOptions, run_latency
from helamem_core.evals.locomo import LocomoOptions, run_locomo
from helamem_core.evals.report import Report

__all__ = [
    "DialogueOptions",
    "LatencyOptions",
    "LocomoOptions",
    "Report",
    "run_dialogue",
    "run_latency",
    "run_locomo",
]
