"""ES modules with which domains draw their scenes in a browser.

docs/worlds.md documents what such a module exports. It is read only from the folder of the domain's
Python module, so browsers run only installed code.
"""

import pkgutil

from sts.domains.protocol import Domain
from sts.errors import StsError

SUFFIX = ".mjs"


def read_drawing(domain: Domain) -> str:
    """Read the ES module that draws a domain's scenes; return "" if it declares none.

    Raises:
      StsError: the file that it declares is not in the folder of its module, or is not UTF-8.
    """
    file = getattr(domain, "drawing", "")
    if not file:
        return ""
    module = type(domain).__module__
    if not isinstance(file, str) or not file.endswith(SUFFIX) or {"/", "\\"} & set(file):
        raise StsError(
            f"domain {domain.name!r}: expected `drawing` as the name of a {SUFFIX} file in the "
            f"folder of {module}, found {file!r}"
        )
    try:
        text = pkgutil.get_data(module, file)
    except OSError as error:
        raise StsError(
            f"domain {domain.name!r}: cannot read its drawing {file} in the folder of {module}: "
            f"{error.strerror}"
        ) from None
    if text is None:
        raise StsError(
            f"domain {domain.name!r}: cannot read its drawing {file}: {module} was not loaded from "
            "a file"
        )
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise StsError(f"domain {domain.name!r}: its drawing {file} is not UTF-8") from None
