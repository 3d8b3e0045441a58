"""Each writer on one small table, character by character, and what folding may and may not do."""

import csv
import io
import json
import re

import pytest

from blockcalc.render import csvfile, html, jsonfile, latex, markdown, text
from blockcalc.render.page import Page
from blockcalc.render.table import Column, Table

COLUMNS = (Column("path"), Column("value", "right"), Column("", "right"), Column("formula", formula=True))
TABLE = Table(
    title="Parameters of a|b_c",
    columns=COLUMNS,
    rows=(("h.*.q", "0.10", "", "12·d² + 13·d"), ("[norm]", "1e5", "", "")),
    totals=(("stored", "1,234", "", "12·d² + 13·d"), ("active", "12", "", "")),
    notes=("f = 4·d = 3,072; 100 %",),
)


def test_text() -> None:
    assert text.write(TABLE) == (
        "Parameters of a|b_c\n"
        "\n"
        "path      value  formula\n"
        "------  -------  ------------\n"
        "h.*.q      0.10  12·d² + 13·d\n"
        "[norm]      1e5\n"
        "\n"
        "stored  1,234  12·d² + 13·d\n"
        "active     12\n"
        "\n"
        "f = 4·d = 3,072; 100 %\n"
    )


def test_markdown() -> None:
    assert markdown.write(TABLE) == (
        "## Parameters of a\\|b_c\n"
        "\n"
        "| path | value | formula |\n"
        "| :-- | --: | :-- |\n"
        "| h.\\*.q | 0.10 | `12·d² + 13·d` |\n"
        "| [norm] | 1e5 |  |\n"
        "\n"
        "| total | value | formula |\n"
        "| :-- | --: | :-- |\n"
        "| stored | 1,234 | `12·d² + 13·d` |\n"
        "| active | 12 |  |\n"
        "\n"
        "- f = 4·d = 3,072; 100 %\n"
    )


def test_latex() -> None:
    table = Table(
        TABLE.title, COLUMNS, (("h.*.q", "0.10", "", "12 \\, d^{2}"), ("[norm]", "1e5", "", "")), (), TABLE.notes
    )
    assert latex.write(table) == (
        "\\textbf{Parameters of a$|$b\\_c}\n"
        "\n"
        "\\begin{tabular}{lrl}\n"
        "path & value & formula \\\\\n"
        "\\hline\n"
        "h.*.q & 0.10 & $12 \\, d^{2}$ \\\\\n"
        "{}[norm] & 1e5 &  \\\\\n"
        "\\end{tabular}\n"
        "\n"
        "f = 4$\\cdot$d = 3,072; 100 \\%\n"
    )


def test_html_escapes() -> None:
    page = html.write(Table("<b>", (Column("path"),), (("<script>&",),), (), ("a < b",)))
    assert "<script>" not in page
    assert "&lt;script&gt;&amp;" in page
    assert "&lt;b&gt;" in page
    assert "a &lt; b" in page


ROWS = [
    {"path": "a, b", "value": 10**30, "formula": "12·d²"},
    {"path": 'say "q"', "shape": [1, 12], "ok": True, "value": None},
]


def test_csv_is_read_back() -> None:
    written = csvfile.write(ROWS)
    assert written.startswith("path,value,formula,shape,ok\r\n")
    first, second = csv.DictReader(io.StringIO(written))
    assert int(first["value"]) == 10**30
    assert first["path"] == "a, b"
    assert (second["path"], second["value"], second["shape"], second["ok"]) == ('say "q"', "", "[1, 12]", "true")
    assert csvfile.write([]) == "\r\n"


def test_json_keeps_whole_numbers() -> None:
    written = jsonfile.write({"rows": ROWS})
    assert json.loads(written) == {"rows": ROWS}
    assert "12·d²" in written
    with pytest.raises(ValueError, match="JSON"):
        jsonfile.write({"x": float("nan")})


LONG = Table(
    title="Long",
    columns=(Column("path"), Column("value", "right"), Column("formula", formula=True), Column("what is counted")),
    rows=(
        (
            "block.attention.scores",
            "1,234,567,890,123",
            "2·L·B·T·S·d + 12·d² − 13·d + 4·B·T·V·d",
            " ".join(["word"] * 12),
        ),
    ),
    notes=(" ".join(["a note of many words"] * 8),),
)


def test_folds_to_a_terminal_and_never_cuts() -> None:
    narrow = text.write(LONG, Page(width=80))
    assert max(map(len, narrow.splitlines())) <= 80
    assert "1,234,567,890,123" in narrow
    assert not re.search(r"[+−]$", narrow, re.MULTILINE)  # an operator stays with the term after it
    words = [word for line in narrow.splitlines() for word in line.split()]
    for term in ("2·L·B·T·S·d", "12·d²", "13·d", "4·B·T·V·d"):
        assert term in words
    impossible = text.write(LONG, Page(width=10))
    assert "1,234,567,890,123" in impossible
    assert "2·L·B·T·S·d" in impossible


def test_a_file_is_never_folded_and_never_bold() -> None:
    plain = text.write(LONG)
    assert "\x1b" not in plain
    assert plain == text.write(LONG, Page(width=1000)).replace("\n  ", " ")
    assert text.write(LONG, Page(width=80, bold=True)).startswith("\x1b[1mLong\x1b[0m\n")


def test_control_characters_from_names_are_taken_out() -> None:
    nasty = Table("\x1b[31mred\nline", (Column("path"),), (("a\x07b\r\nc",),), (), ("n\x00",))
    for writer in (text.write, markdown.write, latex.write):
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", writer(nasty))


def test_tables_without_rows_or_totals() -> None:
    empty = Table("Nothing", (Column("path"), Column("value", "right")), ())
    assert text.write(empty) == "Nothing\n\npath    value\n------  -------\n"
    assert text.write(Table("Nothing", (), ())) == "Nothing\n"
    assert "tabular" in latex.write(empty)
    assert markdown.write(empty).count("\n") == 4
