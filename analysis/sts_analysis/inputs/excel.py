"""Reading of Excel workbooks, by openpyxl (extra `excel`)."""

import io
import zipfile

import pandas as pd

from sts.errors import DamagedData, MissingExtra
from sts.names import quote
from sts.storage.csv_tables import MAX_BYTES, MAX_ROWS
from sts_analysis.inputs.tables import Source, open_frame
from sts_analysis.inputs.words import format_value

EXCEL_SUFFIX = ".xlsx"


def open_workbook(name: str, data: bytes) -> Source:
    """Read the first sheet of a workbook, whose header is row 1: values, no formulas or macros.

    Raises:
      DamagedData: it is damaged, empty or too large.
      MissingExtra: openpyxl is missing.
    """
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra(
            f"{name}: reading Excel needs openpyxl: pip install 'standardised-test-suite[excel]', "
            "or save the sheet as CSV"
        ) from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > MAX_BYTES:
            raise DamagedData(f"{name}: expected at most {MAX_BYTES} bytes unpacked, found {size}")
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # which some programs write wrongly
        cells = [[*map(format_value, row)] for row in sheet.iter_rows(values_only=True)]
    except DamagedData:
        raise
    except Exception as error:  # of many kinds, from a file that anyone may have written
        raise DamagedData(
            f"{name}: expected an Excel workbook, found a damaged one; save it again"
        ) from error
    if len(cells) > MAX_ROWS:
        raise DamagedData(f"{name}: expected at most {MAX_ROWS} rows, found more")
    if not cells or not any(cells[0]):
        raise DamagedData(f"{name}: expected a header in row 1 of sheet {quote(sheet.title)}")
    width = max(map(len, cells))
    cells = [row + [""] * (width - len(row)) for row in cells]
    lines = [n for n, row in enumerate(cells, 1) if n > 1 and any(row)]
    form = f"Excel, sheet {quote(sheet.title)}"
    if len(book.worksheets) > 1:
        form += f" (the first of {len(book.worksheets)})"
    rows = pd.DataFrame([cells[n - 1] for n in lines], columns=cells[0], dtype=object)
    return open_frame(name, rows, lines, "row", form)
