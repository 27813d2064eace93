"""Reading of Excel workbooks, by openpyxl (extra `excel`)."""

import io
import zipfile

from sts.errors import DamagedData, MissingExtra
from sts.names import quote
from sts.storage.csv_tables import MAX_BYTES, MAX_ROWS
from sts_analysis.inputs.tables import Source, format_value, from_rows

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
        rows = sheet.iter_rows(values_only=True)
        cells = [[format_value(value) for value in row] for row in rows]
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
    return from_rows(name, cells[0], [cells[n - 1] for n in lines], lines, "row", form)
