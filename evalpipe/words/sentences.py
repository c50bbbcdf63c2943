"""Sentences that results hold as a code with its numbers, so that a changed word changes no byte of them.

To people a `Sentence` is a text. `results.json` has its code and numbers, such as `{"code": "few-rows", "rows": 8,
"least": 30}`; the text is made of them by the template of that code below. A code and the names of its numbers are for
programs and stay; the words are for people and may change.
"""

from __future__ import annotations

from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from evalpipe.words import numbers
from evalpipe.words.spelling import first_few, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema


_OF_ESTIMATES = {
    "undefined": "{when}",
    "undefined-at-prior": "{when}, or no row of a level that has a prior",
    "undefined-expression": "{expression}: {because}",
    "undefined-for-one": "undefined for one of the two: {because}",
    "undefined-in-slice": "undefined in a slice: {because}",
    "undefined-replicates": "undefined in {undefined} of {replicates} replicates{because:: %}",
    "no-cut-in-replicates": "no threshold can be chosen in {undefined} of {replicates} replicates",
    "no-reportable-row": "no row is reportable: all lie in the equivocal zone",
    "not-served": "the model gives {need:need}",
    "few-rows": "{rows:# row|rows}: too few ({least:,} needed)",
    "few-rows-in-fold": "too few rows ({least:,} needed)",
    "few-rows-in-slice": "too few rows",
    "few-rows-in-reference": "the reference has too few rows",
    "few-slices": "fewer than two slices have a value",
    "few-clusters": "{clusters} clusters, fewer than {least}: limits from so few cover the true value less often than "
                    "{level:percent}",
    "few-clusters-with-rarer-level": "the rarer level is in {few} of {clusters} clusters, fewer than {least}: limits "
                                     "from so few cover the true value too seldom",
    "few-clusters-with-success": "successes are in {few} of {clusters} clusters, fewer than {least}: limits from so "
                                 "few cover the true value too seldom",
    "few-clusters-with-failure": "failures are in {few} of {clusters} clusters, fewer than {least}: limits from so "
                                 "few cover the true value too seldom",
    "few-rows-for-curve": "{rows:,.0f} rows, fewer than {least}: a calibration curve follows so few too closely, and "
                          "limits cover the true value too seldom",
    "few-rarer-rows-for-curve": "{rows:,.0f} rows of the rarer level, fewer than {least}: a calibration curve follows "
                                "so few too closely, and limits cover the true value too seldom",
    "few-units-in-bins": "about {units:,.0f} independent units in {bins} bins, fewer than {least} per bin, so the "
                         "noise is underestimated: ask for fewer bins",
    "few-units-in-digits": "about {units:,.0f} independent units in {bins} bins, fewer than {least} per bin, so the "
                           "noise is underestimated: ask for fewer digits",
    "few-expected": "{expected:,g} {level} are expected in {groups} groups, fewer than {least} a group: the "
                    "chi-squared distribution does not hold, ask for fewer groups",
    "sparse-groups": "fewer than {least} event or non-event is expected in {sparse} of {groups} groups: the "
                     "chi-squared distribution does not hold, ask for fewer groups",
    "few-fits": "{fits} fits, fewer than {least}: limits from so few cover the true value less often than "
                "{level:percent}",
    "few-bootstrap-fits": "{fits} bootstrap fits: an interval at {level:percent} needs {least} or more",
    "few-nights": "too few nights",
    "one-cluster": "all rows are in one cluster, so the uncertainty is unknown",
    "one-level": "all rows are of one level: limits leave out what rows of the other would add",
    "beyond-range": "beyond the range that the spec gives it, {range:bounds}",
    "same-in-replicates": "the same in nearly all replicates, so the bootstrap cannot estimate its uncertainty",
    "same-in-resamples": "it is the same in every resample, so its uncertainty is unknown",
    "same-in-one": "one of the two is the same in every resample, so its uncertainty is unknown",
    "same-in-fits": "every fit has the same value in every resample, so the uncertainty is unknown",
    "no-width": "Wald limits have no width where the share is 0 or 1, and elsewhere cover less often than their level.",
    "below-its-limits": "the value is below its {method} limits: {because}",
    "above-its-limits": "the value is above its {method} limits: {because}",
    "biased-by-resampling": "resampling biases the measure",
    "noise-of-thin-bins": "the noise of bins with few rows is left out of them; ask for fewer digits",
    "no-delta-error": "sensitivity, specificity or the prevalence is 0 or 1, so the delta method cannot estimate the "
                      "error",
    "single-row-of-level": "a level has a single row, so its spread is not known",
    "flat-likelihood": "the likelihood is flat, so its curvature cannot estimate the error",
    "classes-without-value": "over {used} of {classes} classes; no value for {lacking:represented}",
    "part-without-value": "{part}: {because}",
    "folds-without-value": "no value in {lacking} of {folds} folds: {because:semicolons}",
    "fits-without-value": "no value in {lacking} of {fits} fits: {because}",
    "noise-in-fits": "noise of the rows makes the measure larger than the truth in every fit, so limits about the mean "
                     "would miss it",
    "noise-in-bootstrap-fits": "noise makes the measure larger, and every bootstrap sample adds the same noise once "
                               "more",
    "mean-at-end": "the mean is at an end of the measure's range, where its error is not known",
    "uncertainty-unknown": "the corrected value is at an end of its range, or bootstrap fits vary far less in their "
                           "own samples than on the original rows, so they do not tell how uncertain it is",
    "undefined-bootstrap-fits": "undefined in {undefined} of {fits} bootstrap fits",
    "goals-without-value": "no value of: {goals:list}",
    "goals-without-desirability": "no desirability in: {goals:list}",
    "no-characteristic": "the model lacks this characteristic",
    "counts-as-missing": "{because}; counts {desirability:g}, as 'missing' says",
    "recalibrated": "a recalibrated variant is not the model that was fitted",
    "importance-weights": "rows have importance weights, so the deviance is no likelihood ratio",
    "dependent-rows": "rows of one cluster are not independent",
    "fit-unknown": "the spec does not say that the model was fitted on these rows by maximum likelihood",
    "fitted-elsewhere": "the model was fitted on {dataset}, not on these rows",
    "means-differ": "the mean probabilities are not the observed shares, as those of a maximum-likelihood fit with "
                    "intercepts are on its own rows",
    "worse-than-none": "the deviance is above that of no model, which a maximum-likelihood fit with intercepts never "
                       "has on its rows",
}

_OF_EARLIER_RUNS = {
    "levels-differ": "the two runs have intervals of different levels, {level:g} and {earlier_level:g}",
    "no-earlier-results": "there are no results of an earlier run at {path}{relative}",
    "no-folder": "this run has no output folder",
    "no-interval-in-run/earlier": "the earlier run has none: {because:%|none was made}",
    "no-interval-in-run/this": "this run has none: {because:%|none was made}",
    "no-run-kept": "no earlier run that held is kept",
    "not-in-earlier-run/dataset": "the earlier run{path: at %}{as_of: as of %} has no dataset {name:quoted}; it has "
                                  "{known:some}",
    "not-in-earlier-run/model": "the earlier run{path: at %}{as_of: as of %} has no model {name:quoted}; it has "
                                "{known:some}",
    "not-in-earlier-run/number": "the earlier run{path: at %}{as_of: as of %} has no {measure} of {scope}",
    "other-expression": "in the earlier run{path: at %}{as_of: as of %}, {measure} is another expression",
    "undefined-in-run/earlier": "in the earlier run, {because}",
    "undefined-in-run/this": "in this run, {because}",
}

_LARGER = "noise makes it larger, and resampling larger still: the limits invert the noise"

_OF_METHODS = {
    "asked-none": "the spec asks for none",
    "asked-bootstrap": "the spec asks for the bootstrap",
    "test": "a hypothesis test, whose distribution replicates do not draw: it has no limits",
    "extreme": "an extreme of these rows, which no replicate exceeds although new data may: it has no limits",
    "proportion": "a proportion of rows, so Clopper-Pearson limits are valid",
    "asked-of-proportion": "a proportion of rows, and the spec asks for {title} limits",
    "score-of-items": "a mean over items, for which limits by the bootstrap's error cover better than its quantiles",
    "skewed": "skewed: the bootstrap's standard error on the logit scale covers better than its quantiles",
    "auc": "an area under the ROC curve, whose variance DeLong gives",
    "coefficient": "a coefficient of a logistic line, whose error its residuals give",
    "predictive": "made of two independent proportions and a fixed prior: the delta method gives its error",
    "net-benefit": "a difference of two shares of the rows, whose own limits give its limits",
    "noise-inverted": _LARGER,
    "distances": f"a sum of distances; {_LARGER}",
    "squared-distances": f"a mean of squared distances; {_LARGER}",
    "largest-distance": "the largest distance of any bin, so the exact limits of every bin bound it",
    "noise-within-bins": "noise makes the loss within bins smaller, so the limits are corrected for it",
    "noise-smaller": "noise makes it smaller, and resampling smaller still: the limits are corrected for it",
    "uncertain-prevalence": "each replicate draws its own prevalence from the declared distribution; no other method "
                            "includes its spread",
    "clusters-resampled": "rows of a cluster are not independent, so whole clusters are resampled",
    "outcomes-apart": "rows with an outcome are drawn apart from others, which are drawn in at most {groups:,} random "
                      "groups of each stratum where they are more than {most:,}",
    "judges-label-rows": "labels of judges take part, so that rows with an outcome and other rows are resampled apart",
    "chosen-unequally": "rows were chosen unequally for their outcome, so that few of them may carry much of the noise",
    "student-clusters": "rows of a cluster are not independent, so whole clusters are resampled; of at most {few} of "
                        "them the limits are Student's",
    "reweighted": "the classes are reweighted to a prevalence, so limits in closed form are not valid",
    "averaged": "an average over classes, so no limits in closed form exist",
    "weighted-binomial": "binomial limits are not valid under importance weights",
    "weighted-closed-form": "limits in closed form are not valid under importance weights",
    "weighted-even-bins": "under importance weights bins of equal weight have no error in closed form",
    "no-proportion": "not a proportion of rows, so no binomial limits exist",
    "effective-rows": "{title} limits of effective observations, as the spec asks for under weights",
    "asked-would-miss": "{because}; {asked} limits, which the spec asks for, would miss it",
    "no-closed-form": "{because}; {obstacle}",
    "expression-unlimited": "no limits of an expression of {metric} are known: {because}",
    "expression": "computed anew in every replicate from its measures, which are drawn together",
    "for-findings": "taken for findings only, so limits in closed form are enough",
}

_OF_DRAWS = {
    "mode-asked": "engine.mode is {mode}",
    "at-most-rows": "{rows:,} rows, at most {most:,}",
    "more-than-rows": "{rows:,} rows, more than {most:,}",
    "up-to-rows": "{most:,} of them",
    "no-interval": "no interval needs them",
    "unlike-patterns": "the predicted classes of the models leave few rows alike",
    "whole-clusters": "clusters are drawn whole",
    "groups-above": "up to {most:,} of them, and of more as many random groups, which tell a variance with a standard "
                    "error of {error:.2g}%",
    "groups": "about {clusters:,} clusters are more than {most:,}, and {groups:,} groups tell a variance with a "
              "standard error of {error:.2g}%",
    "unlike-weights": "importance weights make rows with one score unlike",
    "unlike-exposures": "exposures make rows with one prediction unlike",
    "unlike-levels": "probabilities of several levels leave few rows alike",
    "unlike-items": "the scores of several models leave few items alike",
    "unlike-left-out": "predictions of models fitted without the row leave few rows alike",
    "nothing-in-parts": "nothing is read part by part",
    "in-memory": "the data are in memory already",
    "few-enough": "no dataset has more than {most:,} rows",
    "all-at-once": "{what} needs all {rows:,} rows at once",
    "too-large": "{rows:,} rows take about {bytes:bytes} to hold",
    "too-many": "{rows:,} rows are more than {most:,}",
    "scores-in-few-cells": "{share:percent} of the rows have scores of model '{model}' in one cell of the grid",
}

_WARNINGS = {
    "absent-level": "no row of dataset '{dataset}' has the level {levels:named}; averages are over the other levels",
    "alike-rows/recalibrators": "{rows:# row|rows} of dataset '{dataset}' {rows:looks|look} like rows of dataset "
                                "'{other}', on which recalibrators are fitted, in all columns read; declare 'id' to "
                                "decide whether they are the same",
    "alike-rows/thresholds": "{rows:# row|rows} of dataset '{dataset}' {rows:looks|look} like rows of dataset "
                             "'{other}', on which thresholds are chosen, in all columns read; declare 'id' to decide "
                             "whether they are the same",
    "clipped": "{dataset}, {model}: {rows:# probability was|probabilities were} limited to the range from {epsilon:g} "
               "to 1 - {epsilon:g} for {measures:list}",
    "clipped/certain": "{model} on {dataset} was certain of {rows:# row|rows} and wrong on {outcomes:,} of them. "
                       "{measures:list} would be infinite, so these probabilities were limited to {epsilon:g}",
    "clipped/infinite": "{dataset}, {model}: {outcomes:# outcome|outcomes} given probability 0 did occur. "
                        "{measures:list} would be infinite, so {rows:# probability was|probabilities were} limited to "
                        "{epsilon:g}",
    "clipped/infinite-cells": "{dataset}, {model}: {outcomes:# outcome|outcomes} given a probability of 0, or below "
                              "{nothing:g}, did occur. {measures:list} would be infinite at 0, so "
                              "{rows:# probability was|probabilities were} limited to {epsilon:g}",
    "clusters-in-folds": "{dataset}: {clusters:# cluster has|clusters have} rows in several folds, so the fit that "
                         "predicted a row had seen others of its cluster",
    "dataset-gone": "{as_of:the run as of %|the run before} had the dataset {dataset:quoted}, which is gone",
    "degenerate/interval": "{dataset}, {model}: the interval of {metric}{average: (%)}{class_: of '%'} cannot be "
                           "trusted: {because}",
    "degenerate/mean": "{dataset}, {model}: {metric}{average: (%)}{class_: of '%'} is no mean over all classes: it is "
                       "{because}",
    "degenerate-slices/because": "{dataset}, {model}: in {slices:# group|groups} some intervals cannot be trusted: "
                                 "{because:semicolons}",
    "degenerate-slices": "{dataset}, {model}: the {estimates:interval|intervals} of {estimates:# number|numbers} in "
                         "{slices:# slice|slices} cannot be trusted; the tables of slices say why",
    "few-effective-rows": "the weights of dataset '{dataset}' are very uneven: its {rows:,} rows carry the information "
                          "of {effective:.3g} rows of equal weight (Kish's effective sample size), so intervals may be "
                          "too narrow",
    "gate-gone": "{as_of:the run as of %|the run before} had the gate {gate}, which is gone",
    "goal-against-direction": "the goal '{goal}' rewards worse models: {metric} is better when it is {better}",
    "goal-without-effect": "the goal '{goal}' tells no candidate from another: each has the desirability "
                           "{desirability:.3g} in it",
    "items-lacking": "{dataset}: {model} has no score for {items:# item|items}, which {items:is|are} left out for "
                     "every model; {rows:# item is|items are} left",
    "scores-missing": "{dataset}, {model}: {scores:# score is|scores are} missing ({reasons:list}) and "
                      "{scores:counts|count} {rule}",
    "scores-missing/left-out": "{dataset}, {model}: {scores:# score is|scores are} missing ({reasons:list}) and "
                               "{scores:is|are} left out",
    "incomplete-rows": "{left_out:,} of {rows:,} rows of dataset '{dataset}' are left out for every model, because a "
                       "model has no prediction for them: {lacking:lacks}; performance on these rows is unknown",
    "margin-as-probability": "{dataset}, {model}: the logistic function turned distances from a boundary into "
                             "probabilities; such probabilities are rarely calibrated",
    "missing-in-condition/dataset": "{rows:# row has|rows have} no value in a column that 'where' of dataset "
                                    "'{dataset}' needs; {rows:it is|they are} left out, because a missing value meets "
                                    "no condition",
    "missing-in-condition/slice": "{rows:# row has|rows have} no value in a column that the condition of slice "
                                  "'{slice}' of dataset '{dataset}' needs; {rows:it is|they are} not in the slice, "
                                  "because a missing value meets no condition",
    "model-gone": "{as_of:the run as of %|the run before} had the model {model:quoted}, which is gone; where it has a "
                  "new name, write 'was: {model}' for that",
    "not-served/model": "{dataset}, {model}: the model gives {needs:needs}",
    "few-cells": "{share:percent} of the rows of dataset '{dataset}' have scores of model '{model}' in one cell of the "
                 "grid, so limits of measures that rank rows may be too narrow; engine.mode exact holds the rows",
    "not-gridded/clusters": "{dataset}: whole clusters were drawn, although engine.mode is grid: {because}",
    "not-gridded/rows": "{dataset}: every row was drawn, although engine.mode is grid: {because}",
    "one-class/event": "dataset '{dataset}' has one class only: every row is an event ('{level}'); measures that need "
                       "both are undefined",
    "one-class/other": "dataset '{dataset}' has one class only: no row is an event ('{level}'); measures that need "
                       "both are undefined",
    "one-cluster/dataset": "all rows of dataset '{dataset}' are in one cluster; resampling clusters cannot estimate "
                           "the uncertainty of its measures",
    "prevalence-of-itself": "the prevalence is that of dataset '{dataset}', which is evaluated too: on its rows "
                            "measures at the declared prevalence are those of the sample, and their limits count its "
                            "sampling error twice",
    "rounded-probabilities": "the probabilities of model '{model}' in dataset '{dataset}' are rounded to {decimals} "
                             "decimals: in {rows:# row|rows} their sum differs from 1, by up to {gap:.2g}; every row "
                             "is divided by its sum",
    "rows-not-compared": "whether dataset '{dataset}' shares rows with dataset '{other}' was not checked, for rows "
                         "that are read part by part are not compared; no file is in both",
    "same-data/night": "the rows of {dataset} are those of an earlier night, so gates 'on: sequence' do not count "
                       "{as_of}",
    "same-data/reference": "the rows of {dataset} are those of {as_of}, so gates 'against: last' compare rows with "
                           "themselves",
    "search-bounded": "{dataset}: only the {searched:,} largest of {slices:,} slices were searched for the worst",
    "squeezed-scores": "{dataset}, {model}: the scores rank well (ROC AUC {auc:.2f}), but 98 % of them lie between "
                       "{low:.2f} and {high:.2f} with a calibration slope of {slope:.2f} ({lower:.2f} to {upper:.2f}): "
                       "they are too close together and need recalibration",
    "undefined-slices/because": "{dataset}, {model}: {slices:# group has|groups have} no value of some measures: "
                                "{because:semicolons}",
    "undefined-slices": "{dataset}, {model}: {estimates:# number|numbers} in {slices:# slice|slices} "
                        "{estimates:has|have} no value; the tables of slices say why",
    "unknown-was": "no earlier run in the ledger has the model {was:quoted}, which {model:quoted} was called before",
    "weights-negligible": "{rows:# row has a weight|rows have weights} below {least:g} of the largest in dataset "
                          "'{dataset}', and {rows:counts|count} as weight 0",
    "weights-scaled": "the weights of dataset '{dataset}' are divided by 2^{power} because their sums are too extreme; "
                      "only their ratios matter, and totals are of the divided weights",
    "worse-than-chance": "{dataset}, {model}: the ROC AUC is {auc:number}, below 0.5: check that '{event}' is the "
                         "right event and that higher values mean the event",
}

_OF_CHECKS = {
    "no-standards": "no standard is declared",
    "no-prevalence": "no prevalence is declared",
    "shifted": "probabilities are recalibrated to a prevalence",
    "no-bounds": "no threshold was chosen under a requirement and is judged on other rows",
    "no-zone": "no equivocal zone is declared",
    "no-costs": "no costs are declared",
    "no-recalibration": "nothing is recalibrated",
    "no-baseline": "no model is the baseline",
    "no-pairs": "no pairs of models are compared",
    "models-compared": "the models are compared, and that has checks of its own",
    "no-baseline-dataset": "no datasets are compared",
    "compared-by-spec": "the spec compares the datasets, and that has a check of its own",
    "no-repeats": "no model has several fits",
    "not-trained-on": "no evaluated row is one that a model was fitted to, by the spec",
    "no-reference-rates": "no reference rate is declared",
    "no-labels": "every row has an outcome",
    "no-judge": "no judge labels rows",
    "no-late-outcomes": "no outcomes come late, or too few to be compared with early ones",
    "selection-not-random": "rows with an outcome are not said to be a random part",
    "selection-random": "rows with an outcome are said to be a random part",
    "few-outcomes-to-compare": "too few rows have an outcome, or lack one, to be compared",
    "no-goals": "no goals of models are declared",
    "no-candidates": "there are no candidates",
    "no-slices": "no slices are declared",
    "no-group-gates": "no gate on all rows is on a measure that slices have",
    "no-search": "no search for the worst slices is declared",
    "no-steps": "no steps of a fit are evaluated",
    "no-gates": "no gate is declared",
    "no-sequence": "no gate is on a sequence of nights",
    "few-nights": "there are too few nights",
    "no-trend": "no trend is declared",
    "no-shift": "the trend does not look for a shift",
    "no-datasets": "no dataset is evaluated",
    "rows-never-held": "rows are read part by part and never held",
    "compared-by-contents": "rows without 'id' are compared by their contents alone",
    "no-shared-column": "the datasets share no measured numbers that tell rows apart",
    "contents-too-alike": "rows are too much alike in the columns that the datasets share",
    "cluster-declared": "clusters of rows are declared",
    "no-further-columns": "no column was read that the spec does not name",
    "no-columns-of-groups": "no column that the spec does not name has 2 to 20 levels",
    "no-columns-of-ids": "no column that the spec does not name holds ids of several rows",
    "only-classes": "no model gives scores, probabilities or numbers",
    "one-dataset": "there is one dataset",
    "one-evaluated": "one dataset is evaluated",
    "one-model": "there is one model",
    "no-reference": "no dataset is a reference",
    "no-other-rows": "no dataset is a reference or for calibration",
    "shared-by-contents": "rows are in training by their contents, which another check tells",
    "rows-look-alike": "rows look alike in all columns, and no 'id' says whether they are the same",
    "not-binary": "the outcome is not binary",
    "not-multiclass": "the outcome is not one of several classes without an order",
    "few-levels": "the outcome has no more than two classes",
    "no-levels": "the outcome is a number",
    "not-numbers": "the outcome is no number",
    "not-counts": "the outcome is no count",
    "no-text": "no column of items' texts is named",
    "not-scores": "no scores of items are evaluated",
    "no-range": "scores have no declared range",
    "no-epochs": "no item has two epochs",
    "nothing-tested": "the run lacks the numbers or intervals that it needs",
}


class Deprecated(NamedTuple):
    """A name that has a new one: the version since which it warns, and the first version that does not read it."""

    old: str
    new: str
    since: str
    until: str

    def __str__(self) -> str:
        """Return the sentence that every warning of it has."""
        return f"'{self.old}' is called '{self.new}' now; evalpipe {self.until} no longer reads it"


DEPRECATED = {row.old: row for row in (
    Deprecated("indeterminate", "inconclusive", since="1.0", until="2.0"),
)}
"""Every deprecated name. What a release promised works until the next major version, and warns for two minor ones."""

FORMER_VERDICTS = {old: row.new for old, row in DEPRECATED.items()}
"""What verdicts were called before, with what they are called now."""

NEEDS = {
    "labels": "no predicted classes", "probabilities": "no probabilities", "scores": "no scores",
    "values": "no predicted numbers", "loo_values": "no leave-one-out predictions",
    "item_scores": "no scores of items", "successes": "no score that counts as a success", "wins": "no other models",
    "ranked_lists": "no ranked lists of documents",
    "usage": "no usage of epochs",
    "usage_of_successes": "no usage of epochs, or no score that is a success",
}
"""What a model does not give that cannot serve a need."""

PARTS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "Estimates and tables": _OF_ESTIMATES, "Earlier runs": _OF_EARLIER_RUNS, "Interval methods": _OF_METHODS,
    "Replicates and rows": _OF_DRAWS, "Warnings": _WARNINGS,
    "Checks that do not apply": _OF_CHECKS,
})
"""The templates by what they are of."""

TEMPLATES: Mapping[str, str] = MappingProxyType({code: text for part in PARTS.values() for code, text in part.items()})
"""Every template, by its code; of a code with several, by the code and the case, with a slash between them."""


TEXT = "text"
"""The number of a sentence that is a text and no more, of a spec, a plugin or results of `schema_version` 1; and the
code of one that has no other."""

CASE = "case"
"""The number that tells one template of a code from its others."""


class Sentence(str):  # noqa: SLOT000 - what it is made of is read by few, so a dictionary costs nothing
    """A text with the ``code`` and the ``numbers`` that it is made of; other sentences may be among the numbers."""

    code: str
    numbers: Mapping[str, Any]

    def __new__(cls, code: str, numbers: Mapping[str, Any]) -> Self:
        """Fill the template of ``code`` with ``numbers``; list the numbers where the code has no template."""
        template = TEMPLATES.get(_template_name(code, numbers))
        if TEXT in numbers:
            text = str(numbers[TEXT])
        elif template is None:
            text = f"{code} ({', '.join(f'{name} = {value}' for name, value in numbers.items())})"
        else:
            text = _writer.vformat(template, (), numbers)
        written = super().__new__(cls, text)
        written.code, written.numbers = code, numbers
        return written

    def __getnewargs__(self) -> tuple[str, Mapping[str, Any]]:  # type: ignore[override]
        """Return the arguments from which a copy is made, also by pickle."""
        return self.code, self.numbers

    @classmethod
    def read(cls, value: object) -> Sentence:
        """Return a sentence from its code and numbers, or from a text; raises ValueError of anything else."""
        if isinstance(value, Sentence):
            return value
        if isinstance(value, str):
            return cls(TEXT, {TEXT: value})
        if not isinstance(value, dict) or not isinstance(value.get("code"), str):
            raise ValueError("neither a code with its numbers nor a text")  # noqa: TRY004 - pydantic tells of these
        parts = {name: _read_number(part) for name, part in value.items() if name != "code"}
        try:
            return cls(value["code"], parts)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ValueError(f"'{value['code']}' lacks a number, or has another kind of it") from None

    @property
    def document(self) -> dict[str, Any]:
        """The code and the numbers, as `results.json` has them."""
        return {"code": self.code} | {name: _number_document(part) for name, part in self.numbers.items()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a field that is a sentence: read by `read`, written as its `document`."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls.read, serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: cls.read(value).document))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of a sentence: an object with a code."""
        return {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"],
                "description": "A sentence, as its code and numbers."}


def sentence(code: str, **numbers: Any) -> Sentence:
    """Return the sentence of a code with its numbers; raises KeyError where it has no template or lacks a number."""
    if _template_name(code, numbers) not in TEMPLATES:
        raise KeyError(_template_name(code, numbers))
    return Sentence(code, numbers)


def in_words(document: Any) -> Any:
    """Return JSON values with the text of each sentence in place of its code and numbers."""
    if isinstance(document, dict):
        if isinstance(document.get("code"), str):
            return str(Sentence.read(document))
        return {key: in_words(part) for key, part in document.items()}
    return [in_words(part) for part in document] if isinstance(document, list) else document


def _template_name(code: str, numbers: Mapping[str, Any]) -> str:
    """Return the name of the template for a code: with its case, "code/case", where ``numbers`` has any."""
    return f"{code}/{numbers[CASE]}" if CASE in numbers else code


def _read_number(part: object) -> object:
    """Return a number from JSON; an object with a code, also within a list, becomes a sentence."""
    if isinstance(part, list):
        return [_read_number(item) for item in part]
    return Sentence.read(part) if isinstance(part, dict) and "code" in part else part


def _number_document(part: object) -> object:
    """Return a number for JSON; a sentence, also within a list, becomes its code and numbers."""
    if isinstance(part, list | tuple):
        return [_number_document(item) for item in part]
    return part.document if isinstance(part, Sentence) else part


class _Writer(Formatter):
    """Fills in templates. Beside Python's own formats, one may name a writer of `_WRITERS`, or choose words.

    `{rows:# row|rows}` is "1 row" or "1,200 rows", and `{rows:is|are}` the verb alone. `{day:as of %|before}` has the
    value in place of the mark, and the other words, or none, where it is null.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value as text by its format in a template: Python's, a writer's name, or words to choose from."""
        if "%" in format_spec:
            present, _, absent = format_spec.partition("|")
            return absent if value is None else present.replace("%", str(value))
        if "|" in format_spec:
            singular, _, plural = format_spec.removeprefix("# ").partition("|")
            word = singular if value == 1 else plural
            return f"{value:,} {word}" if format_spec.startswith("# ") else word
        write = _WRITERS.get(format_spec)
        return cast("str", super().format_field(value, format_spec)) if write is None else write(value)


def _needs_text(measures: Mapping[str, list[str]]) -> str:
    """Return in words what a model lacks, and for which measures: "no probabilities for brier"."""
    return "; ".join(f"{NEEDS[need]} for {', '.join(names)}" for need, names in measures.items())


_WRITERS: Mapping[str, Callable[[Any], str]] = {
    "number": numbers.number, "plain": numbers.plain, "bytes": numbers.bytes_text,
    "percent": lambda share: f"{100 * share:.10g}%", "bounds": lambda ends: numbers.bounds(*ends),
    "quoted": quoted, "need": NEEDS.__getitem__, "needs": _needs_text,
    "some": first_few, "list": ", ".join, "semicolons": "; ".join,
    "named": lambda names: ", ".join(f"'{name}'" for name in names),
    "represented": lambda names: ", ".join(map(repr, names)),
    "lacks": lambda counts: ", ".join(f"'{name}' lacks {count:,}" for name, count in counts.items()),
}

_writer = _Writer()
