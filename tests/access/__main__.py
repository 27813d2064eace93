"""Write the table of attempts into docs/security.md."""

from tests.access.attempts import table
from tests.access.test_table import BEGINS, ENDS, PAGE, parts

if __name__ == "__main__":
    before, _, after = parts(PAGE.read_text("utf-8"))
    PAGE.write_text(f"{before}{BEGINS}\n{table()}\n{ENDS}{after}", "utf-8")
