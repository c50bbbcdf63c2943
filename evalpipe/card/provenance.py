"""The card's last sections: the spec as YAML, fingerprints, and how to make the card again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.digests import text_sha256
from evalpipe.base.plugins import plugins_of
from evalpipe.card.data import files_read, full_fingerprint, path
from evalpipe.card.page import Code, Column, Heading, Preformatted, Row, Section, Table, Text
from evalpipe.card.wording import capital, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.card.page import Block
    from evalpipe.results import Results
    from evalpipe.templating.files import Templates


def spec_text(spec: Mapping[str, object]) -> str:
    """Return a resolved spec as YAML, keys in their order, without those that have no value.

    A text that begins like a number is quoted: ``1e3`` is a text to PyYAML, but a number to YAML 1.2. So is one with
    invisible characters, which are then written as escapes. A text of several lines stands in these lines. ``${`` in
    a value is written ``$${``, as it would be taken for a reference to an environment variable.
    """
    import yaml

    class Writer(yaml.SafeDumper):
        """Writes texts with quotes wherever a reader of YAML 1.2 could take them for numbers."""

    def text(writer: yaml.SafeDumper, value: str) -> yaml.Node:
        numeric, has_invisible = value[:1] in set("+-.0123456789"), not value.replace("\n", "").isprintable()
        style = '"' if has_invisible else "|" if "\n" in value else "'" if numeric else None
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Writer.add_representer(str, text)
    return yaml.dump(_without_empty_values(spec), Dumper=Writer, sort_keys=False, allow_unicode=True, width=100)


def _without_empty_values(value: object) -> object:
    """Return a value of a spec without keys that have no value, and with ``$${`` for ``${``, but in keys."""
    if isinstance(value, dict):
        return {key: _without_empty_values(item) for key, item in value.items() if item is not None and item != {}}
    if isinstance(value, list):
        return [_without_empty_values(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value


def sections(results: Results, templates: Templates | None = None) -> Iterator[Section]:
    """Yield the sections on the spec and on provenance: day, fingerprints, and how to reproduce the card."""
    yield Section("spec", "Spec", (
        Text("As it was resolved: files it extends, environment and command line applied, defaults filled in.", "lead"),
        Preformatted(spec_text(results.spec), "spec")), part="appendix")
    plugins = plugins_of(results.appearance.plugins)
    packages = [f"evalpipe {results.evalpipe_version}",
                *dict.fromkeys(f"{plugin.package} {plugin.version}" for plugin in plugins)]
    day = (f"This card is about {results.as_of}, the day that the spec or the command states. No clock was read."
           if results.as_of is not None else
           ("No day is stated that this card is about: the spec has no ", Code("as_of"), ", and ", Code("--as-of"),
            " was not given."))
    yield Section("provenance", "Provenance", (
        Text(day, "lead"), files_read(results), Heading("Fingerprints"), *_fingerprints(results, templates),
        *(Text(f"{capital(str(plugin))} adds {joined(plugin.gives)}. It is no part of evalpipe.")
          for plugin in plugins),
        Heading("How to reproduce"),
        Text((f"Install {joined(packages)}, save the spec above, which the PDF carries as ",
              Code("spec.yaml"), ", as ", Code(f"{results.name}.yaml"),
              " where its paths lead to the files listed, and run"), "lead"),
        Preformatted(f"evalpipe run {results.name}.yaml"),
        Text(("The same spec, data and version give the same ", Code("results.json"),
              " and the same card, byte for byte."))), part="appendix")


def _fingerprints(results: Results, templates: Templates | None) -> Iterator[Block]:
    """Yield a table of the sha256 of spec, files and templates, and a warning where templates are custom."""
    texts = {} if templates is None else templates.texts
    rows = [Row(("Resolved spec", Code(results.spec_sha256)))]
    rows += [Row((path(file), Code(full_fingerprint(file)))) for file in results.inputs]
    rows += [Row((file.path, Code(file.sha256))) for file in results.statement.files]
    rows += [Row((f"Template {name}", Code(text_sha256(text)))) for name, text in texts.items()]
    yield Table("sha256 of what this card was made from", (Column("What"), Column("sha256")), tuple(rows), "hashes",
                label="Fingerprints")
    if texts:
        files = f"{len(texts)} files" if len(texts) > 1 else "1 file"
        warning = (f"The page and the PDF are rendered with templates of their own: {files}. These can change the "
                   "words and the layout around the numbers. ")
        yield Text((warning, Code("evalpipe render DIR --no-template"), " writes the card without them."))
