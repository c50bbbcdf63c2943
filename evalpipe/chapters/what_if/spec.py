"""The key of the sliders of the page."""

from __future__ import annotations

from typing import Annotated

from pydantic import StrictBool

from evalpipe.base.records import After
from evalpipe.spec.field_types import Only, SpecPart


class WhatIfReportKeys(SpecPart):
    """Keys of `report`."""

    what_if: Annotated[StrictBool | None, Only("binary"), After("pdf_variant")] = None
    """Whether the page lets its reader move the threshold and the prevalence, for models that give probabilities; yes
    where it is left out."""
