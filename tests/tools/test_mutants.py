"""The weekly mutants are code, each with one fault, and the same on the same day."""

import ast

from tools.testing import mutants

CODE = """
def f(a, b: int = 2):
    return a @ b if not a < b and True else -b

first = lambda rows: rows[1:]
"""


def test_each_kind_of_fault_is_made_once():
    made = {(one.right, one.wrong) for one in mutants.of_python("f.py", CODE)}
    assert made == {
        ("return a @ b if not a < b and True else -b", "return"),
        ("a @ b", "(a * b)"),
        ("a < b", "(a <= b)"),
        ("not a < b", "(a < b)"),
        ("not a < b and True", "(not a < b or True)"),
        ("True", "(False)"),
        ("-b", "(b)"),
        ("2", "(3)"),
        ("1", "(2)"),
        ("lambda rows: rows[1:]", "(lambda rows: rows)"),
    }
    (made,) = mutants.of_a_script("f.js", "// a + b\nconst sum = a + b;\n")
    assert made.text == "// a + b\nconst sum = a - b;\n"


def test_one_day_draws_the_same_mutants_again_and_all_are_code():
    drawn = mutants.drawn(20, "2026-11-30")
    assert drawn == mutants.drawn(20, "2026-11-30") != mutants.drawn(20, "2026-12-07")
    for one in drawn:
        if one.file.endswith(".py"):
            ast.parse(one.text)
