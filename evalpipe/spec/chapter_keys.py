"""The keys that chapters declare in their `spec.py`: of a spec, of a model, and of `report`.

`Spec`, `Model` and `Report` are made from them, each key in the place that it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters import composed

if TYPE_CHECKING:
    from evalpipe.chapters.appearance.spec import AppearanceReportKeys
    from evalpipe.chapters.checks.spec import ChecksKeys
    from evalpipe.chapters.compare.spec import CompareKeys
    from evalpipe.chapters.costs.spec import CostsKeys
    from evalpipe.chapters.curves.spec import CurvesKeys
    from evalpipe.chapters.desirability.spec import DesirabilityKeys
    from evalpipe.chapters.deviance.spec import DevianceModelKeys
    from evalpipe.chapters.equivocal.spec import EquivocalKeys, EquivocalModelKeys
    from evalpipe.chapters.folds.spec import FoldsKeys
    from evalpipe.chapters.gates.spec import GatesKeys
    from evalpipe.chapters.optimism.spec import OptimismModelKeys
    from evalpipe.chapters.prevalence.spec import PrevalenceKeys
    from evalpipe.chapters.recalibrate.spec import RecalibrateKeys
    from evalpipe.chapters.reference_rates.spec import ReferenceRatesKeys
    from evalpipe.chapters.row_file.spec import RowFileReportKeys
    from evalpipe.chapters.slices.spec import SlicesKeys
    from evalpipe.chapters.standards.spec import StandardsKeys
    from evalpipe.chapters.statement.spec import StatementKeys
    from evalpipe.chapters.steps.spec import StepsKeys, StepsModelKeys
    from evalpipe.chapters.thresholds.spec import ThresholdsKeys, ThresholdsModelKeys
    from evalpipe.chapters.trend.spec import TrendKeys
    from evalpipe.chapters.what_if.spec import WhatIfReportKeys

    class ChapterKeys(
        StandardsKeys, StatementKeys, PrevalenceKeys, ThresholdsKeys, CurvesKeys, EquivocalKeys, CostsKeys,
        RecalibrateKeys, CompareKeys, FoldsKeys, ReferenceRatesKeys, DesirabilityKeys, SlicesKeys, StepsKeys,
        GatesKeys, ChecksKeys, TrendKeys,
    ):
        """The keys of a spec that chapters declare."""

    class ModelKeys(ThresholdsModelKeys, EquivocalModelKeys, DevianceModelKeys, OptimismModelKeys, StepsModelKeys):
        """The keys of a model that chapters declare."""

    class ReportKeys(WhatIfReportKeys, AppearanceReportKeys, RowFileReportKeys):
        """The keys of `report` that chapters declare."""
else:
    ChapterKeys = composed("spec", "Keys")
    ModelKeys = composed("spec", "ModelKeys")
    ReportKeys = composed("spec", "ReportKeys")
