"""Members of zips: each compression, members larger than they say, and logs of many samples in little memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from data.logs.written_logs import DEFLATED, STORED, ZSTANDARD, header, message, packed, sample, write, zipped
from evalpipe.data.logs import read_logs
from evalpipe.data.logs.reading import LARGEST_TEXT

TOO_LARGE = ("error[too-large]: 'summaries.json' in a.eval has more than 536,870,912 bytes, the most that is read at "
             "once\n --> a.eval\n  = help: divide the log, or write it in a format that keeps samples apart, as "
             "Inspect's .eval")
FRAME = b"\x28\xb5\x2f\xfd"


def runs_of_zeros(size: int) -> bytes:
    """Return a Zstandard frame that unpacks to zeros, by blocks of one repeated byte (RFC 8878, 3.1.1.2.2)."""
    block, count = 2**17, size // 2**17
    blocks = [(block << 3 | 1 << 1 | (number == count - 1)).to_bytes(3, "little") + b"\0" for number in range(count)]
    return FRAME + b"\x00\x58" + b"".join(blocks)


def journal(method: int, texts: list[str], newline: str = "") -> bytes:
    """Return the zip of a log whose header has line ends and whose summaries are some texts."""
    summaries = json.dumps([sample(f"s{number}", match=1) | {"metadata": {"text": text}}
                            for number, text in enumerate(texts)], ensure_ascii=False)
    return zipped({"header.json": json.dumps(header(), indent=1) + newline, "summaries.json": summaries}, method)


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
@pytest.mark.parametrize("newline", ["", "\n"])
def test_a_member_is_read_whatever_its_compression(tmp_path: Path, method: int, newline: str) -> None:
    texts = ["a\u2028b", "c\x85d", "ä\t€ 🙂", "", "\r\n"]
    folder = write(tmp_path, {"a.eval": journal(method, texts, newline)})

    assert read_logs("inspect", [Path("a.eval")], folder).table["text"].to_list() == texts


def test_a_member_of_several_frames_is_read_whole(tmp_path: Path) -> None:
    summaries = json.dumps([sample(f"s{number}", match=1) for number in range(1000)])
    skippable = (0x184D2A50).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"abc"
    frames = [packed(summaries.encode()[at:at + 7000], ZSTANDARD) for at in range(0, len(summaries), 7000)]
    members = {"header.json": json.dumps(header()), "summaries.json": summaries}
    raw = {"summaries.json": skippable.join(frames)}
    folder = write(tmp_path, {"a.eval": zipped(members, raw=raw)})

    assert read_logs("inspect", [Path("a.eval")], folder).table.height == 1000


def test_frames_with_checksums_are_read(tmp_path: Path) -> None:
    frames = bytes.fromhex("28b52ffd240f7900007b2276657273696f6e223a20322c20b9aa7a40"  # zstandard 0.25, write_checksum
                           "28b52ffd2414a1000022737461747573223a202273756363657373227dd410595d")
    header_text = '{"version": 2, "status": "success"}'
    folder = write(tmp_path, {"a.eval": zipped({"header.json": header_text}, raw={"header.json": frames})})

    assert "a.eval has no 'eval.model', which its format requires" in message("inspect", folder, "a.eval")


def test_a_member_that_says_it_is_too_large_is_not_unpacked(tmp_path: Path) -> None:
    members = {"summaries.json": "[]", "header.json": header()}
    folder = write(tmp_path, {"a.eval": zipped(members, size=LARGEST_TEXT + 1)})

    assert message("inspect", folder, "a.eval") == TOO_LARGE.replace("summaries", "header")


def test_a_small_member_that_would_unpack_to_gigabytes_is_not_unpacked(tmp_path: Path) -> None:
    members = {"header.json": header(), "summaries.json": "[]"}
    folder = write(tmp_path, {"a.eval": zipped(members, raw={"summaries.json": runs_of_zeros(2**32)})})
    start = time.monotonic()

    assert message("inspect", folder, "a.eval") == TOO_LARGE
    assert time.monotonic() - start < 5


def test_the_frame_of_zeros_is_one_that_unpacks(tmp_path: Path) -> None:
    raw = {"header.json": runs_of_zeros(2**18)}
    folder = write(tmp_path, {"a.eval": zipped({"header.json": "\0" * 2**18}, raw=raw)})

    assert message("inspect", folder, "a.eval").startswith("error[broken-log]: 'header.json' in a.eval is no JSON: ")


def test_a_deflated_member_is_unpacked_to_what_it_says_and_no_further(tmp_path: Path) -> None:
    members = {"header.json": json.dumps(header()) + " " * 10_000_000}
    folder = write(tmp_path, {"a.eval": zipped(members, DEFLATED, size=100)})

    assert message("inspect", folder, "a.eval").startswith(
        "error[broken-log]: 'header.json' in a.eval has another checksum than the zip says")


def test_many_samples_with_transcripts_are_read_in_seconds_and_little_memory(tmp_path: Path) -> None:
    samples = [sample(f"s{number}", match=number % 2) | {"metadata": {"topic": number % 7}} for number in range(5000)]
    transcript = packed(json.dumps({"events": ["x" * 100_000]}).encode(), ZSTANDARD)
    members = {"header.json": header(), "summaries.json": samples} | {
        f"samples/s{number}_epoch_1.json": "" for number in range(5000)}
    raw = {name: transcript for name in members if name.startswith("samples/")}
    folder = write(tmp_path, {"a.eval": zipped(members, raw=raw)})
    script = ("import resource, sys; from pathlib import Path; from evalpipe.data.logs import read_logs; import polars;"
              "used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; polars.DataFrame({'a': [1]});"
              "before = used(); height = read_logs('inspect', [Path(sys.argv[1])]).table.height;"
              "print(height, used() - before)")
    start = time.monotonic()

    height, kilobytes = map(int, subprocess.run(
        [sys.executable, "-c", script, str(folder / "a.eval")], capture_output=True, text=True, check=True,
    ).stdout.split())

    assert height == 5000
    assert kilobytes < 100_000  # 5,000 transcripts are 500 MB
    assert time.monotonic() - start < 20
