"""A client of a language server, as an editor is one: JSON-RPC over its standard input and output."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT = 60
"""Seconds in which an answer must come."""


class LanguageServer:
    """A language server that was started with a command, and the settings that it asks for under ``yaml``."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        """Start the server and tell it what this client can do."""
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._changed = threading.Condition()
        self._answers: dict[int, Any] = {}
        self._problems: dict[str, list[dict[str, Any]]] = {}
        self._count = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        capabilities = {
            "workspace": {"configuration": True}, "textDocument": {"hover": {"contentFormat": ["markdown"]}}}
        self.ask("initialize", processId=None, rootUri=None, capabilities=capabilities)
        self._send(method="initialized", params={})

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._reader.join()
        self._process.communicate()

    def ask(self, method: str, **params: Any) -> Any:
        """Return the server's answer to a request."""
        with self._changed:
            self._count += 1
            number = self._count
        self._send(id=number, method=method, params=params)
        with self._changed:
            assert self._changed.wait_for(lambda: number in self._answers, TIMEOUT), method
            return self._answers.pop(number)

    def opened(self, path: Path) -> tuple[str, list[dict[str, Any]]]:
        """Open a file; return its address, and the problems that the server has with it."""
        address = path.as_uri()
        document = {"uri": address, "languageId": "yaml", "version": 1, "text": path.read_text(encoding="utf-8")}
        self._send(method="textDocument/didOpen", params={"textDocument": document})
        with self._changed:
            assert self._changed.wait_for(lambda: address in self._problems, TIMEOUT), path
            return address, self._problems[address]

    def _send(self, **message: Any) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._process.stdin.flush()

    def _read(self) -> None:
        """Take messages until the server ends: answers, problems, and questions, which have the settings as answer."""
        output = self._process.stdout
        assert output is not None
        while header := output.readline():
            length = int(header.split(b":")[1]) if header.lower().startswith(b"content-length:") else 0
            while output.readline().strip():
                pass
            message = json.loads(output.read(length))
            with self._changed:
                if message.get("method") == "textDocument/publishDiagnostics":
                    self._problems[message["params"]["uri"]] = message["params"]["diagnostics"]
                elif "method" in message and "id" in message:
                    # No schemas but those that a file names, so that nothing is asked of a network.
                    settings = {"validate": True, "completion": True, "hover": True, "schemaStore": {"enable": False}}
                    asked = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
                    self._send(id=message["id"], result=[
                        settings if item.get("section") == "yaml" else None for item in asked])
                elif "id" in message:
                    self._answers[message["id"]] = message.get("result")
                self._changed.notify_all()
