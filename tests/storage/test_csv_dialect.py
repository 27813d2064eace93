"""The encoding and the separator of a table are recognised."""

import pytest

from sts.errors import DamagedData
from sts.storage.csv_dialect import decode_table
from sts.storage.csv_tables import parse_csv

TEXT = 'agent,scenario,notes\nälpha,s 1,"a; b"\nbeta,s 2,c\n'


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("cp1252", "Windows-1252"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_encoding_and_separator_are_recognised(encoding: str, name: str, separator: str) -> None:
    written = TEXT.replace(",", separator)
    text, dialect = decode_table("t", written.encode(encoding))
    assert text.decode() == written and dialect == (separator, name)
    assert parse_csv("t", written.encode(encoding)).rows[0] == ["älpha", "s 1", "a; b"]


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1;2,3;4\n", ","),
        ("a;b\n1,5;2\n", ";"),
        ("a;b\n1,5;2,5\n", ";"),
        ("a,b,c\n1,2\n", ","),
        ("verdict\nx\n", ","),
        ('"a"\t"b, c"\n1\t"x\ny"\n', "\t"),
    ],
)
def test_separator_is_the_one_that_gives_equal_rows(text: str, separator: str) -> None:
    assert decode_table("t", text.encode())[1].separator == separator


@pytest.mark.parametrize("data", [b"PAR1\0\1\xff", b"a,b\n\0,1\n", b"\x89PNG\r\n\x1a\n\xff"])
def test_binary_file_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedData, match="t: expected text in UTF-8, UTF-16 or .* binary file"):
        decode_table("t", data)


def test_damaged_text_is_refused_with_its_encoding() -> None:
    with pytest.raises(DamagedData, match="expected text in UTF-16, found damaged text"):
        decode_table("t", "a,b\n".encode("utf-16") + b"x")
    with pytest.raises(DamagedData, match="expected text in Windows-1252, found damaged text"):
        decode_table("t", b"a,b\n\x81,\xe4\n")
