"""Prompts: lines from which a setter improvises an instruction, a question or a game.

A TOML file has one `[[prompt]]` per line. The packaged file suits any world, a domain may have a
file `prompts.toml` in the folder of its Python module, and a study may name its own file.

Source: Abramson et al. 2022, section 2.
"""

import pkgutil
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Literal

import msgspec

from sts.domains.registry import code_path
from sts.errors import ArgumentError, DamagedData
from sts.names import is_one_line
from sts.storage.files import canonical_json, content_hash, read_bytes

FILE = "prompts.toml"
MAX_CHARS = 200
_MAX_BYTES, _MAX_PROMPTS = 2**20, 1000


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One prompt."""

    kind: Literal["instruction", "question", "play"]  # what it asks the setter for
    # how hard an agent that follows instructions would find most of what it leads to
    difficulty: Literal["easy", "medium", "hard"]
    text: str  # one line
    domains: tuple[str, ...] = ()  # the domains that it suits; () for all

    def __post_init__(self) -> None:
        """Raise ValueError if the text is not one line of printable characters."""
        if not self.text.strip() or not is_one_line(self.text, MAX_CHARS):
            raise ValueError(f"expected a text of 1 to {MAX_CHARS} printable characters")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    prompt: list[Prompt]


def load_prompts(domain: str, path: Path | None = None) -> tuple[Prompt, ...]:
    """Return the prompts for a domain: those of a file, or else the packaged and the domain's.

    Raises:
      ArgumentError: the file does not exist.
      DamagedData: it is not a file of prompts, has one twice, or has none for this domain.
    """
    if path is None:
        module = code_path(domain).partition(":")[0]
        prompts = [p for name in (__name__, module) for p in _read_packaged(name)]
    else:
        try:
            prompts = parse_prompts(str(path), read_bytes(path, _MAX_BYTES))
        except FileNotFoundError:
            raise ArgumentError(f"no file of prompts at {path}; check the path") from None
    selected = tuple(p for p in prompts if not p.domains or domain in p.domains)
    texts, name = [prompt.text for prompt in selected], path or FILE
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise DamagedData(f"{name}: expected each prompt once, found {twice!r} twice")
    if not 1 <= len(selected) <= _MAX_PROMPTS:
        raise DamagedData(
            f"{name}: expected 1 to {_MAX_PROMPTS} prompts for {domain}, found {len(selected)}"
        )
    return selected


def _read_packaged(module: str) -> list[Prompt]:
    """Return the prompts in the folder of a module; [] without a file."""
    if not module:
        return []
    import_module(module)
    try:
        raw = pkgutil.get_data(module, FILE)
    except OSError:
        return []
    return parse_prompts(f"{FILE} of {module}", raw) if raw else []


def parse_prompts(name: str, raw: bytes) -> list[Prompt]:
    """Parse a file of prompts; errors as for `load_prompts`, with the file's `name`."""
    try:
        return msgspec.convert(tomllib.loads(raw.decode()), _File).prompt
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"{name}: not a file of prompts: {error}") from None


def hash_prompts(prompts: Sequence[Prompt]) -> str:
    """Return the hash of prompts, 16 hex digits."""
    return content_hash(canonical_json(msgspec.to_builtins(prompts)))[:16]
