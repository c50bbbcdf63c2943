"""The keys that chapters declare in their `spec.py`: of a spec, of a model, and of `report`.

`Spec`, `Model` and `Report` are made from them, each key in the place that it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters import composed

if TYPE_CHECKING:
    from evalpipe.chapters.appearance import spec as appearance
    from evalpipe.chapters.calibration import spec as calibration
    from evalpipe.chapters.candidates import spec as candidates
    from evalpipe.chapters.compare import spec as compare
    from evalpipe.chapters.costs import spec as costs
    from evalpipe.chapters.curves import spec as curves
    from evalpipe.chapters.desirability import spec as desirability
    from evalpipe.chapters.deviance import spec as deviance
    from evalpipe.chapters.equivocal import spec as equivocal
    from evalpipe.chapters.folds import spec as folds
    from evalpipe.chapters.gates import spec as gates
    from evalpipe.chapters.optimism import spec as optimism
    from evalpipe.chapters.prevalence import spec as prevalence
    from evalpipe.chapters.recalibrate import spec as recalibrate
    from evalpipe.chapters.reference_rates import spec as reference_rates
    from evalpipe.chapters.row_file import spec as row_file
    from evalpipe.chapters.slices import spec as slices
    from evalpipe.chapters.standards import spec as standards
    from evalpipe.chapters.statement import spec as statement
    from evalpipe.chapters.steps import spec as steps
    from evalpipe.chapters.thresholds import spec as thresholds
    from evalpipe.chapters.trend import spec as trend
    from evalpipe.chapters.what_if import spec as what_if

    class ChapterKeys(
        standards.Keys, statement.Keys, prevalence.Keys, thresholds.Keys, curves.Keys, equivocal.Keys, costs.Keys,
        calibration.Keys, recalibrate.Keys, compare.Keys, folds.Keys, reference_rates.Keys, desirability.Keys,
        candidates.Keys, slices.Keys, steps.Keys, gates.Keys, trend.Keys,
    ):
        """The keys of a spec that chapters declare."""

    class ModelKeys(
        thresholds.ModelKeys, equivocal.ModelKeys, deviance.ModelKeys, optimism.ModelKeys, steps.ModelKeys,
    ):
        """The keys of a model that chapters declare."""

    class ReportKeys(what_if.ReportKeys, appearance.ReportKeys, row_file.ReportKeys):
        """The keys of `report` that chapters declare."""
else:
    ChapterKeys = composed("spec", "Keys")
    ModelKeys = composed("spec", "ModelKeys")
    ReportKeys = composed("spec", "ReportKeys")
