"""Parameters: text and Python values into the declared type, or one sentence that says why not."""

from dataclasses import dataclass
from typing import Any

import pytest

from companion.chapters import CHAPTERS, Chapter, chapter
from companion.errors import ConfigurationError
from companion.settings import Settings, setting


@dataclass(frozen=True)
class Example(Settings):
    n: int = setting(50, at_least=1, at_most=10_000, meaning="number of landmark points")
    rho: float = setting(1.0, above=0, meaning="ρ")
    ns: tuple[int, ...] = setting((20, 50), at_least=1, meaning="numbers of landmark points")
    rhos: tuple[float, ...] = setting((0.25, 1.0), above=0)
    norms: tuple[str, ...] = setting(("trace",), choices=("trace", "frobenius"))
    again: bool = setting(False, meaning="do it again?")
    file: str | None = setting(None, meaning="a file")
    most: int | None = setting(None, at_least=1)

    def check(self) -> None:
        if self.most is not None and self.most < self.n:
            raise ConfigurationError("most", f"is {self.most}; it must be at least n = {self.n}.")


CHAPTER = Chapter("example", 7, "An example", "§0", Example, {"smoke": {"n": 5}})


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("n", "80", 80),
        ("n", "1e3", 1000),
        ("n", 1e3, 1000),
        ("rho", "4", 4.0),
        ("ns", "[1, 2e2]", (1, 200)),
        ("ns", "7", (7,)),
        ("rhos", "[0.25, 1, 4]", (0.25, 1.0, 4.0)),
        ("norms", "trace,frobenius", ("trace", "frobenius")),
        ("again", "true", True),
        ("file", "12", "12"),
        ("file", "null", None),
        ("most", "null", None),
    ],
    ids=repr,
)
def test_a_good_value_arrives_as_its_type(name: str, given: Any, value: Any) -> None:
    found = getattr(CHAPTER.settings({name: given}), name)
    assert found == value
    assert type(found) is type(value)


WHOLE = "it must be a whole number, at least 1 and at most 10,000."
KNOWN = "known: n, rho, ns, rhos, norms, again, file, most."


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("n", "abc", f"n is 'abc'; {WHOLE}"),
        ("n", 1.5, f"n is 1.5; {WHOLE}"),
        ("n", True, f"n is True; {WHOLE}"),
        ("n", "１０", f"n is '１０'; {WHOLE}"),
        ("n", "1,2", f"n is [1, 2]; {WHOLE}"),
        ("rho", "0", "rho is 0; it must be a number, above 0."),
        ("rho", "nan", "rho is 'nan'; it must be a number, above 0."),
        ("rho", "1e400", "rho is inf; it must be a number, above 0."),
        ("ns", "[]", "ns is an empty list; it must have at least one value."),
        ("ns", "1,1", "ns is [1, 1]; each value may be there once."),
        ("ns", "1,0", "ns is [1, 0]; it must be a list of whole numbers, each at least 1."),
        ("ns", "[1, 2", "ns is ['[1', 2]; it must be a list of whole numbers, each at least 1."),
        ("again", "yes", "again is 'yes'; it must be true or false."),
        ("most", "0", "most is 0; it must be a whole number, at least 1, or null."),
        ("nn", "3", f"nn is not a parameter of example (did you mean 'n'?); {KNOWN}"),
    ],
    ids=repr,
)
def test_a_bad_value_is_refused_in_one_sentence(name: str, given: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        CHAPTER.settings({name: given})
    assert str(caught.value) == sentence


def test_the_cell_is_what_the_settings_say() -> None:
    assert CHAPTER.cell() == "\n".join(
        [
            "from typing import Optional",
            "",
            "n: int = 50  # number of landmark points; at least 1 and at most 10,000",
            "rho: float = 1.0  # ρ; above 0",
            "ns: list[int] = [20, 50]  # numbers of landmark points; each at least 1",
            "rhos: list[float] = [0.25, 1.0]  # each above 0",
            "norms: list[str] = [\"trace\"]  # each one of 'trace', 'frobenius'",
            "again: bool = False  # do it again?",
            "file: Optional[str] = None  # a file",
            "most: Optional[int] = None  # at least 1",
        ]
    )
    names: dict[str, Any] = {}
    exec(CHAPTER.cell(), names)
    assert CHAPTER.settings({name: names[name] for name in Example.declared()}) == Example()


def test_the_command_gives_the_same_settings_again() -> None:
    import shlex

    settings = Example(n=7, rhos=(2.0,), norms=("frobenius", "trace"), again=True, file="a b,c.csv", most=7)
    words = shlex.split(CHAPTER.command(settings))
    assert words[:3] == ["nystrom", "run", "example"]
    values = dict(word.split("=", 1) for word in words[4::2])
    assert CHAPTER.settings(values) == settings


@pytest.mark.parametrize("name", list(CHAPTERS))
def test_every_profile_of_every_chapter_is_valid(name: str) -> None:
    each = chapter(name)
    for profile in ("paper", "quick", "smoke"):
        settings = each.settings({}, profile)
        assert each.settings({key: str(value) if isinstance(value, int | float) else value
                              for key, value in settings.to_plain().items()}) == settings  # fmt: skip
    assert all(declared.meaning for declared in each.parameters.declared().values())
