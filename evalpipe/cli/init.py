"""`evalpipe init`."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from evalpipe.cli.output import printing
from evalpipe.errors import UsageError
from evalpipe.tasks import SCORES, TASKS, known_task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.proposal.propose import Asks, Proposal
    from evalpipe.proposal.questions import Answers, Question
    from evalpipe.proposal.scores import ScoreProposal

    AnyProposal = Proposal | ScoreProposal

STDOUT = "-"


@click.command(short_help="Write a spec for predictions.")
@click.argument("data", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--out", metavar="SPEC", help="File to write, or - for the standard output.  [default: the first "
              "DATA's name with .yaml, in the working folder]")
@click.option("--event", metavar="LEVEL", help="The level of a binary outcome that is the event.")
@click.option("--outcome", metavar="COLUMN", help="The column of the true outcome.")
@click.option("--task", type=known_task, metavar=TASKS, help="The kind of outcome.")
@click.option("--levels", metavar="A,B,…", help="All levels of an ordinal outcome, from the lowest to the highest.")
@click.option("--model", "models", metavar="NAME=COLUMN", multiple=True,
              help="A model and a column of its predictions; may be repeated. With several levels COLUMN may hold "
                   "{level}.")
@click.option("--order", metavar="A,B,…", help="All levels, in the order in which the lists of a column hold a "
              "number for each.")
@click.option("--weight", metavar="COLUMN", help="The column of case weights.")
@click.option("--exposure", metavar="COLUMN", help="The column of what each count was counted in.")
@click.option("--cluster", metavar="COLUMN", help="The column whose value is shared by rows that belong together.")
@click.option("--better", metavar="[higher|lower]", help="Of scores, those that are better.")
@click.option("--missing", metavar="SCORE|leave_out", help="What a missing score counts.")
@click.option("--scorer", metavar="NAME", help="The scorer in logs whose numbers are the scores.")
@click.option("--log-task", metavar="NAME", help="The task in logs that is evaluated.")
@click.option("--item", metavar="COLUMN", help="The column of a table of scores that names items.")
@click.option("--epoch", metavar="COLUMN", help="The column that numbers the epochs of an item.")
@click.option("--no-schema", "without_schema", is_flag=True, help="Write no schema for editors beside the spec.")
@click.option("--force", is_flag=True, help="Replace a SPEC that exists.")
def init(
    data: Sequence[str], out: str | None, models: Sequence[str], *, without_schema: bool, force: bool,
    **answers: str | None,
) -> None:
    """Write a spec for files of predictions, with the reason for each key beside it.

    Each DATA becomes a dataset to evaluate: csv (also with semicolons), csv.gz, tsv, parquet, ipc, ndjson, a folder or
    a glob. The outcome, its kind and the columns of the models are proposed from names and values. The event is never
    guessed: it is asked for in a terminal, and elsewhere --event has to give it. So is all else that the data leave
    open. With --task score the columns are scores of items.

    DATA may be logs of Inspect, lm-evaluation-harness, Every Eval Ever, promptfoo or OpenAI Evals: their scores are a
    dataset, and each model in them is a model of the spec.

    Beside the spec stands evalpipe.schema.json, which its first line names: an editor that knows the YAML language
    server completes its keys and checks them. A SPEC of - has none.

    The spec runs as it is: it is planned and its data are read and checked before it is written. Where it is not
    written, the exit code is 2 for what the command line leaves open or a SPEC that exists, 3 for data that are wrong.
    """
    from evalpipe.proposal.propose import Proposal
    from evalpipe.proposal.questions import Answers
    from evalpipe.proposal.scores import score_spec_text
    from evalpipe.proposal.spec_file import (
        BY_SCHEMA,
        refuse_existing,
        refuse_schema,
        spec_text,
        target_path,
        try_spec,
        write_schema,
    )

    target = target_path(out, data[0])
    refuse_existing(target, force=force)
    with_schema = target != STDOUT and not without_schema
    if with_schema:
        refuse_schema(target)
    proposal = proposal_for(data, Answers(models=tuple(models), **answers))
    text = spec_text(proposal, target) if isinstance(proposal, Proposal) else score_spec_text(proposal, target)
    try_spec(text, target)
    if with_schema:
        text = BY_SCHEMA + text
        write_schema(target)
    write_proposal(proposal, text, target, force=force)


def proposal_for(data: Sequence[str], answers: Answers) -> AnyProposal:
    """Return the proposal for data, with all questions answered: for logs and for `--task score` a spec of scores."""
    from evalpipe.proposal import scores
    from evalpipe.proposal.columns import look_at_datasets
    from evalpipe.proposal.propose import parts_from_first_rows, propose

    logs = scores.look_at_logs(data)
    if logs is None and answers.task not in SCORES:
        scores.refuse_idle_flags(answers, scores.OF_SCORES, "predictions of an outcome")
        looked = look_at_datasets(data)
        return answered_proposal(partial(propose, looked), partial(parts_from_first_rows, looked), answers)
    proposing = partial(scores.propose_scores, logs or look_at_datasets(data, limit=scores.MOST_ROWS))
    return answered_proposal(proposing, proposing, answers)


def answered_proposal(
    propose: Callable[[Answers], AnyProposal | Question], asked: Asks, answers: Answers
) -> AnyProposal:
    """Return a proposal with all questions answered, in the terminal; raises UsageError where there is no terminal.

    ``asked`` gives the next question after answers, and may be quicker than ``propose``.
    """
    from evalpipe.proposal.propose import open_questions_error
    from evalpipe.proposal.questions import Question

    proposal = propose(answers)
    while isinstance(proposal, Question):
        is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
        if not is_terminal:
            raise open_questions_error(asked, answers, proposal)
        answers = ask(propose, answers, proposal)
        proposal = propose(answers)
    return proposal


def ask(propose: Asks, answers: Answers, question: Question) -> Answers:
    """Ask a question on stderr until its answer is valid; return ``answers`` with the new answer."""
    from evalpipe.proposal.questions import SHOWN
    from evalpipe.words.spelling import clipped

    choices = [(clipped(choice), note) for choice, note in question.choices[:SHOWN]]
    width, further_count = max(len(choice) for choice, _ in choices), len(question.choices) - len(choices)
    lines = [f"  {choice:<{width}}  {note}" for choice, note in choices]
    lines += [f"  and {further_count:,} more"] if further_count else []
    click.echo("\n".join(["", f"{question.known}:", *lines]), err=True)
    while True:
        text = click.prompt(question.asks, prompt_suffix=" ", err=True)
        try:
            new_answers = question.answered(answers, text)
            propose(new_answers)
        except UsageError as error:
            problem = error.problems[0]
            click.echo(f"{problem.message}; {problem.hint}" if problem.hint else problem.message, err=True)
            continue
        return new_answers


def write_proposal(proposal: AnyProposal, text: str, target: str, *, force: bool) -> None:
    """Write the spec to its file or to stdout, and print a summary of the proposal and the command that runs it."""
    from evalpipe.proposal.scores import ScoreProposal
    from evalpipe.proposal.spec_file import write_spec_file

    if target == STDOUT:
        with printing():
            click.echo(text, nl=False)
    else:
        write_spec_file(target, text, force=force)
    for line in score_summary(proposal) if isinstance(proposal, ScoreProposal) else summary(proposal):
        click.echo(line, err=target == STDOUT)
    if target != STDOUT:
        click.echo(f"\n{target}\nrun it: evalpipe run {shlex.quote(target)}")


def summary(proposal: Proposal) -> list[str]:
    """Return the lines of a summary of a proposal: task, outcome, models, and notes."""
    from evalpipe.proposal.spec_file import as_yaml
    from evalpipe.words.spelling import clipped

    outcome, levels = proposal.outcome, proposal.levels
    event = "" if levels.event is None else f", event {clipped(levels.event)}"
    lines = [f"task     {outcome.task}: {outcome.task_reason}",
             f"outcome  {clipped(outcome.column.name)}{event}: {outcome.reason}"]
    for model in proposal.models:
        keys = [f"{line.key} {'of each level' if isinstance(line.value, dict) else clipped(as_yaml(line.value))}"
                for line in model.lines]
        lines.append(f"model    {model.name}: {', '.join(keys)}")
    return [*lines, *(f"note     {note}" for note in proposal.notes)]


def score_summary(proposal: ScoreProposal) -> list[str]:
    """Return the lines of a summary of a proposal of scores: task, what a score means, models, and notes."""
    from evalpipe.proposal.scores import source_of
    from evalpipe.words.spelling import clipped

    within = ", from 0 to 1, which was read from the data: check it" if proposal.within_one else ""
    return [f"task     score: {proposal.reason}", f"score    {proposal.better} is better{within}",
            *(f"model    {model.name}: {model.lines[0].key} {clipped(source_of(model))}"
              for model in proposal.models),
            *(f"note     {note}" for note in proposal.notes)]
