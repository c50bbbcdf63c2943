"""What people may state on the card, beside what is computed: one declaration for each field of `card:`.

The keys of the spec, the records of the results, the card and the standards' profiles read it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


SectionName = Literal[
    "use", "factors", "choices", "data", "details", "design", "risks", "monitoring", "validation", "conformity",
]
"""The sections of the card that hold what people state; `card/statements.py` has their titles and parts."""


Role = Literal["developer", "validator", "owner", "approver"]
"""Who signs a card, in the order of their say: the approver has the last."""


class CardField(NamedTuple):
    """A field: its title on the card, what is to be stated, the section that it stands in, and whether it always does.

    A field that is not stated is shown as missing where it is ``always`` shown, or where a chosen standard asks for it.
    """

    title: str
    meaning: str
    section: SectionName
    always: bool = False


USE: dict[str, CardField] = {
    "intended_use": CardField("Intended use", "What the model is for, and who uses it.", "use", always=True),
    "users": CardField("Primary users", "Who uses it, and what they must know.", "use"),
    "in_scope": CardField("Decisions in scope", "The decisions that it is made for.", "use"),
    "role_in_decisions": CardField(
        "Role in decisions", "What its output does in a decision: who sees it, when, and what follows from it.", "use"),
    "not_for": CardField("Not for", "What the model must not be used for.", "use", always=True),
    "misuse": CardField("Foreseeable misuse", "How it could be misused, on purpose or not.", "use"),
    "affected_groups": CardField(
        "Affected groups", "Whom decisions with it affect, and known inequalities between them.", "use"),
    "applicability": CardField(
        "Applicability", "Where its results hold: people, places, times, ranges of inputs.", "use"),
    "bad_input": CardField("Bad or missing input", "What it does where an input is missing or out of range.", "use"),
    "factors": CardField(
        "Relevant factors", "Groups, instruments and environments on which its results may depend, and why they are "
        "looked at here or not.", "factors"),
    "instrumentation": CardField(
        "Instruments", "What measures its inputs, and how these instruments differ.", "factors"),
    "environment": CardField("Environment", "The conditions under which it is used.", "factors"),
}

CHOICES: dict[str, CardField] = {
    "why_metrics": CardField("Why these measures", "Why the measures are fit for the use.", "choices"),
    "prespecified": CardField(
        "Fixed beforehand", "Which measures, limits and thresholds were fixed before the data were seen.", "choices"),
    "threshold_rationale": CardField("Why this threshold", "Why rows are classified where they are.", "choices"),
    "missing_data": CardField("Missing data", "How missing inputs, outcomes and predictions were handled.", "choices"),
    "robustness": CardField(
        "Robustness", "What was done to learn how results depend on inputs, missing values and thresholds.", "choices"),
    "fairness": CardField("Fairness", "What is taken as fair between groups, and why.", "choices"),
}

DATA: dict[str, CardField] = {
    "source": CardField(
        "Source and period", "Where the evaluated data come from, and of which period.", "data", always=True),
    "period": CardField("Period", "When the evaluated data were gathered, with the end of follow-up.", "data"),
    "setting": CardField("Setting", "Where they were gathered: kind, number and place of the sites.", "data"),
    "eligibility": CardField("Eligibility", "Who or what was included, and what was left out.", "data"),
    "collection": CardField("Collection", "How they were gathered, sampled and prepared.", "data"),
    "outcome_definition": CardField("Outcome", "What the outcome is, and how it was assessed.", "data"),
    "horizon": CardField("Time horizon", "How long after the prediction the outcome is looked at.", "data"),
    "reference_standard": CardField(
        "Reference standard", "What the truth was taken from, and why that can be relied on.", "data"),
    "labelling": CardField("Labelling", "Who labelled, by which rules, and how far labellers agree.", "data"),
    "blinding": CardField(
        "Blinding", "What assessors of the outcome knew of the predictions, and the reverse.", "data"),
    "training_data": CardField(
        "Training data", "What the model was trained on, and how these data were chosen.", "data"),
    "sample_size": CardField("Sample size", "Why this many rows.", "data"),
    "representativeness": CardField(
        "Representativeness", "How the data differ from where the model is used: biases, gaps, what was done.", "data"),
    "sensitive_fields": CardField(
        "Sensitive fields", "Which fields are personal or protected, and how they are used.", "data"),
    "licence_of_data": CardField("Licence of the data", "Under which terms the data may be used.", "data"),
}

MODEL: dict[str, CardField] = {
    "version": CardField("Version", "The version of the model.", "details"),
    "model_type": CardField("Type", "What kind of model it is.", "details"),
    "release_date": CardField("Released", "When this version was released.", "details"),
    "owner": CardField("Owner", "Who answers for the model.", "details"),
    "developer": CardField("Developer", "Who built it.", "details"),
    "contact": CardField("Contact", "Whom to ask.", "details"),
    "licence": CardField("Licence", "Under which terms the model may be used.", "details"),
    "citation": CardField("Citation", "How to cite it, and where it is described.", "details"),
    "classification": CardField("Classification", "How confidential this document is.", "details"),
    "inventory_id": CardField("Inventory", "Its number in the inventory of models.", "details"),
    "materiality": CardField("Materiality", "Its tier of risk, and why.", "details"),
    "vendors": CardField("Third parties", "Parts that others made: models, data, software, services.", "details"),
    "interactions": CardField("Interactions", "The systems that it works with, and how.", "details"),
    "hardware": CardField("Hardware", "What it runs on.", "details"),
    "distribution": CardField("Distribution", "The forms in which it reaches its users.", "details"),
    "user_interface": CardField("User interface", "What its users see and operate.", "details"),
    "instructions": CardField("Instructions for use", "Where they are, and what they say.", "details"),
    "design": CardField("Design", "The general logic, the key choices and the reasons for them.", "design"),
    "algorithms": CardField("Algorithms", "How the model was fitted, step by step.", "design"),
    "optimised": CardField("Optimised for", "What the training minimises or maximises.", "design"),
    "predictors": CardField("Predictors", "The inputs: definition, choice, handling.", "design"),
    "hyperparameters": CardField("Hyperparameters", "How they were chosen, and their values.", "design"),
    "architecture": CardField("Architecture", "The parts of the system, and how they work together.", "design"),
    "compute": CardField("Computing resources", "What was needed to develop, train and test it.", "design"),
    "assumptions": CardField("Assumptions", "What must hold for the model to be right.", "design"),
    "trade_offs": CardField("Trade-offs", "What was given up for what.", "design"),
    "predetermined_changes": CardField(
        "Planned changes", "Changes to it that are foreseen, and their limits.", "design"),
}

RISKS: dict[str, CardField] = {
    "risks": CardField("Risks", "What harm it can do, how likely and how grave.", "risks"),
    "mitigation": CardField("Mitigation", "What is done against these risks, and what remains.", "risks"),
    "oversight": CardField("Human oversight", "Who can see through, override and stop it, and how.", "risks"),
    "interpretability": CardField("Interpretability", "What helps people to read its output.", "risks"),
    "competence": CardField("Competence", "What those who use and oversee it must be able to do.", "risks"),
    "cybersecurity": CardField("Cybersecurity", "How it is protected against attacks.", "risks"),
    "privacy": CardField("Privacy", "How personal data are protected.", "risks"),
    "ethics": CardField("Ethics", "What was considered, and with whom: sensitive data, human life, consent.", "risks"),
    "involvement": CardField("Involvement", "How those affected took part in its making and its evaluation.", "risks"),
    "environmental_impact": CardField("Environmental impact", "The energy that training and use need.", "risks"),
    "monitoring": CardField(
        "Monitoring", "How the model is watched in use: what is measured, how often, and what is done about it.",
        "monitoring", always=True),
    "incidents": CardField("Incidents", "What went wrong in use, and how incidents are reported.", "monitoring"),
    "feedback": CardField("Feedback", "How users and those affected can object or report.", "monitoring"),
    "retirement": CardField("Retirement", "When and how it is taken out of use.", "monitoring"),
}

REVIEW: dict[str, CardField] = {
    "validator": CardField("Validator", "Who validated the model.", "validation"),
    "independence": CardField("Independence", "How the validator is independent of those who built it.", "validation"),
    "validation_scope": CardField("Scope", "What was validated, and what was not.", "validation"),
    "validation_findings": CardField(
        "Findings of the validator", "What was found: severity, owner, due date, state.", "validation"),
    "roles": CardField("Roles and governance", "Who decides, approves and answers for what.", "validation"),
    "approvals": CardField("Approvals", "Which boards and committees approved what, and when.", "validation"),
    "interpretation": CardField("Interpretation", "What the results mean, beside earlier work.", "validation"),
    "standards_applied": CardField(
        "Standards applied", "Which standards were applied, in which version.", "conformity"),
    "declaration": CardField(
        "Declaration of conformity", "The declaration that was signed, or where it is.", "conformity"),
    "registration": CardField("Registration", "Where the study or the system is registered.", "conformity"),
    "protocol": CardField("Protocol", "Where the protocol is, and what departed from it.", "conformity"),
    "funding": CardField("Funding", "Who paid, and what part they had.", "conformity"),
    "conflicts": CardField("Conflicts of interest", "The interests of those who built and evaluated it.", "conformity"),
    "availability": CardField("Data and code", "Where data and code are, and who may have them.", "conformity"),
}

FIELDS: dict[str, CardField] = USE | CHOICES | DATA | MODEL | RISKS | REVIEW
"""Every field that is a text, by its key, in the order of the card."""

LISTED: dict[str, CardField] = {
    "limits": CardField("Limits", "Known limitations and assumptions.", "use", always=True),
    "changes": CardField("Change log", "The changes to the model and its evaluation.", "monitoring"),
}
"""The fields that are lists, which standards may ask for too."""


LiteralValue = str | float | int | bool

FUNCTION = "value"
"""What a reference begins with."""

WHERE = ("dataset", "model", "variant", "slice", "average", "class")
"""The names that say which number of a measure is meant; any other is an option of the measure."""

EXAMPLE = 'write {{ value("roc_auc", model="…") }}'

_REFERENCE_BEGIN = re.compile(r"(?<!\\)(?<!\\\{)\{\{(?:\s*(?P<name>[A-Za-z_]\w*)\s*\()?")
_ESCAPED = re.compile(r"\\\{\{")
_OTHER_BRACES = re.compile(r"\{\{[^{}\n]{0,50}(?:\}\})?")
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<sign>\}\}|[(){}=,:]))""")


@dataclass(frozen=True, slots=True)
class NumberReference:
    """A reference as it is ``written``, from ``start`` on; ``options`` are all that it names beside the measure."""

    written: str
    start: int
    metric: str
    options: Mapping[str, LiteralValue | Mapping[str, LiteralValue]]


@dataclass(frozen=True, slots=True)
class ReferenceFault:
    """A reference that cannot be read, from ``start`` to ``end``: why, and the way out."""

    start: int
    end: int
    message: str
    hint: str


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _UnreadableError(Exception):
    """Raised at a token that is not what was expected; ``expected`` is that in words."""

    def __init__(self, expected: str, token: _Token) -> None:
        self.expected, self.token = expected, token


def references(text: str) -> Iterator[NumberReference | ReferenceFault]:
    """Yield the references to numbers in a text, in order; a `ReferenceFault` for each that is invalid.

    ``{{`` begins a reference, unless a backslash stands before it.
    """
    begin = _REFERENCE_BEGIN.search(text)
    while begin is not None:
        reference = _read_reference(text, begin)
        yield reference
        end = reference.end if isinstance(reference, ReferenceFault) else reference.start + len(reference.written)
        begin = _REFERENCE_BEGIN.search(text, end)


def without_escapes(text: str) -> str:
    r"""Return a text with ``\{{``, the escaped braces, replaced by ``{{``."""
    return _ESCAPED.sub("{{", text)


def _read_reference(text: str, begin: re.Match[str]) -> NumberReference | ReferenceFault:
    """Return the reference that begins at a match of ``{{``, or why it cannot be read and up to where."""
    if begin["name"] is None:
        braces = _OTHER_BRACES.match(text, begin.start())
        end = begin.end() if braces is None else braces.end()
        message = f"{text[begin.start() : end]!r} is no reference to a number"
        return ReferenceFault(begin.start(), end, message, f"{EXAMPLE}, or \\{{{{ for the braces themselves")
    if begin["name"] != FUNCTION:
        message = f"a text can refer to 'value(…)' alone, not to '{begin['name']}(…)'"
        return ReferenceFault(begin.start(), begin.end(), message, EXAMPLE)
    reader = _CallReader(text, begin.end())
    try:
        metric, options = reader.read_call()
    except _UnreadableError as error:
        token = error.token
        found_instead = f"got {token.text!r}" if token.text else "the text ends"
        message = f"this reference to a number cannot be read: expected {error.expected}, {found_instead}"
        return ReferenceFault(token.start, max(token.start + len(token.text), begin.end()), message, EXAMPLE)
    return NumberReference(text[begin.start() : reader.position], begin.start(), metric, MappingProxyType(options))


class _CallReader:
    """Reads the call in a reference, from its opening bracket to ``}}``, token by token."""

    def __init__(self, text: str, position: int) -> None:
        self.text, self.position = text, position

    def next(self) -> _Token:
        """Return the next token and move behind it; at the end, or where no token begins, a token of kind ""."""
        match = _TOKEN.match(self.text, self.position)
        if match is None or match.lastgroup is None:
            rest = re.compile(r"\s*").match(self.text, self.position)
            start = self.position if rest is None else rest.end()
            return _Token("", self.text[start : start + 1], start)
        self.position = match.end()
        return _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))

    def read_sign(self, *signs: str) -> str:
        """Return the next token, which must be one of these signs; raises _UnreadableError otherwise."""
        token = self.next()
        if token.text not in signs:
            raise _UnreadableError(" or ".join(f"'{sign}'" for sign in signs), token)
        return token.text

    def literal_of(self, token: _Token) -> LiteralValue:
        """Return the value of a token: a text, a number or a truth value; raises _UnreadableError otherwise."""
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "number":
            return float(token.text) if "." in token.text else int(token.text)
        if token.text in ("true", "false"):
            return token.text == "true"
        raise _UnreadableError("a text in quotes or a number", token)

    def read_call(self) -> tuple[str, dict[str, LiteralValue | Mapping[str, LiteralValue]]]:
        """Read up to the end of the reference; return the name of the metric, and all named arguments."""
        first, options = self.next(), dict[str, LiteralValue | Mapping[str, LiteralValue]]()
        if first.kind != "text":
            raise _UnreadableError("the name of a metric in quotes", first)
        while self.read_sign(",", ")") == ",":
            name = self.next()
            if name.kind != "word":
                raise _UnreadableError("a name such as 'model'", name)
            if name.text in options:
                raise _UnreadableError("each name once", name)
            self.read_sign("=")
            options[name.text] = self.read_setting()
        self.read_sign("}}")
        return first.text[1:-1], options

    def read_setting(self) -> LiteralValue | Mapping[str, LiteralValue]:
        """Return the value of an argument, or a mapping such as ``{"season": "a"}``."""
        token = self.next()
        if token.text != "{":
            return self.literal_of(token)
        labels: dict[str, LiteralValue] = {}
        while True:
            key = self.next()
            if key.kind != "text":
                raise _UnreadableError("a text in quotes", key)
            self.read_sign(":")
            labels[key.text[1:-1]] = self.literal_of(self.next())
            if self.read_sign(",", "}") == "}":
                return MappingProxyType(labels)
