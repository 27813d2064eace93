"""What a domain draws in a browser: an ES module that comes with it.

What such a module exports is written in docs/worlds.md. It is read from beside the domain's own
class and from nowhere else, so what runs in people's browsers is what was installed here.
"""

from __future__ import annotations

import pkgutil

from sts.domains.protocol import Domain
from sts.errors import StsError

SUFFIX = ".mjs"


def drawing(domain: Domain) -> str:
    """Return the ES module that draws a domain's scenes; "" where it declares none.

    Raises:
      StsError: what it declares is no file beside the module of its class, or is not UTF-8.
    """
    file = getattr(domain, "drawing", "")
    if not file:
        return ""
    module = type(domain).__module__
    if not isinstance(file, str) or not file.endswith(SUFFIX) or {"/", "\\"} & set(file):
        raise StsError(
            f"domain {domain.name!r}: expected its drawing as the name of a {SUFFIX} file beside "
            f"{module}, found {file!r}"
        )
    try:
        text = pkgutil.get_data(module, file)
    except OSError as error:
        raise StsError(
            f"domain {domain.name!r}: its drawing {file}, beside {module}, cannot be read: "
            f"{error.strerror}"
        ) from None
    if text is None:
        raise StsError(f"domain {domain.name!r}: {module} is no file, so nothing is beside it")
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise StsError(f"domain {domain.name!r}: its drawing {file} is not UTF-8") from None
