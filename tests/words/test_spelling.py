"""Words in messages; suggestions name another spelling of the same, never another thing."""

from __future__ import annotations

import pytest

from evalpipe.words import spelling
from evalpipe.words.spelling import closest, closest_file, closest_level, quoted


@pytest.mark.parametrize(("word", "known", "expected"), [
    ("avarage", ["average", "metric"], "average"),
    (" Brier", ["brier"], "brier"),
    ("model_2", ["model_1", "model_3"], None),  # another model, no misspelling
    ("model_2", ["model_1", "model2"], "model2"),
    ("102.0", ["120", "7"], None),
    ("f_1", ["f2", "f1"], "f1"),
    ("log_loss2", ["log_loss"], "log_loss"),
    ("x", [], None),
])
def test_a_name_with_another_number_is_another_name(word: str, known: list[str], expected: str | None) -> None:
    assert closest(word, known) == expected


@pytest.mark.parametrize(("word", "known", "expected"), [
    ("Yes", ["no", "yes"], "yes"),
    (" yes ", ["no", "yes"], "yes"),
    ("yess", ["no", "yes"], "yes"),
    ("posionous", ["edible", "poisonous"], "poisonous"),  # two letters exchanged
    ("poisonus", ["edible", "poisonous"], "poisonous"),
    ("poisonoous", ["edible", "poisonous"], "poisonous"),
    ("poisonoas", ["edible", "poisonous"], "poisonous"),
    ("fraud", ["not_fraud", "no fraud", "nonfraud"], None),
    ("male", ["female"], None),
    ("positive", ["negative"], None),
    ("safe", ["unsafe"], None),
    ("typical", ["atypical"], None),
    ("hypertension", ["hypotension"], None),
    ("yes", ["no"], None),
    ("1", ["-1", "+1", "0"], None),
    ("grade_2", ["grade_1", "grade_3"], None),
    ("102.0", ["120", "7"], None),
    ("bad", ["bed"], None),
    ("abcd", ["abc"], "abc"), ("abc", ["abcd"], "abcd"), ("ab", ["abc"], None),  # the longer has four letters
    ("xbcd", ["abcd"], None),  # the first letter
    ("abxy", ["abcd"], None), ("abcdef", ["abcd"], None), ("acbde", ["abcd"], None), ("badc", ["abcd"], None),
    ("abdc", ["abcd"], "abcd"), ("abcde", ["abcd"], "abcd"), ("abc1", ["abcd"], None),
    ("graded", ["grades", " GRADED "], " GRADED "),  # capitals and spaces before letters
])
def test_no_level_is_suggested_that_means_another_thing(word: str, known: list[str], expected: str | None) -> None:
    assert closest_level(word, known) == expected
    assert expected is not None or closest_level(word, [level.upper() for level in known]) is None


@pytest.mark.parametrize(("name", "files", "expected"), [
    ("scroes.csv", ["other.csv", "scores.csv"], "scores.csv"), ("x.csv", ["scores.csv"], None),
    ("scores.tsv", ["scores.csv", "scores.parquet"], "scores.csv"),
])
def test_a_file_is_suggested_by_its_name_before_the_ending(name: str, files: list[str], expected: str | None) -> None:
    assert closest_file(name, files) == expected


@pytest.mark.parametrize(("value", "text"), [
    (True, "true"), (False, "false"), (1, "1"), (1.5, "1.5"), (None, "None"), ("a", "'a'"), ("it's", '"it\'s"'),
    ("a" * 60, f"'{'a' * 60}'"), ("a" * 61, f"'{'a' * 57}...'"),
])
def test_a_value_is_quoted_as_a_spec_has_it(value: object, text: str) -> None:
    assert quoted(value) == text


@pytest.mark.parametrize(("text", "line"), [
    ("a" * 60, "a" * 60), ("a" * 61, "a" * 59 + "…"), (f"{'a' * 57}  bcd", f"{'a' * 57}…"), ("a\nb", "a\ufffdb"),
])
def test_a_text_is_cut_to_a_line(text: str, line: str) -> None:
    assert spelling.clipped(text) == line


@pytest.mark.parametrize(("noun", "many"), [
    ("row", "rows"), ("probability", "probabilities"), ("day", "days"), ("person", "people"), ("child", "children"),
    ("pregnant woman", "pregnant women"), ("loan in default", "loans in default"), ("man of letters", "men of letters"),
    ("bus", "buses"), ("box", "boxes"), ("waltz", "waltzes"), ("branch", "branches"), ("dish", "dishes"),
])
def test_a_noun_has_its_plural_but_for_one(noun: str, many: str) -> None:
    assert [spelling.counted(number, noun) for number in (0, 1, 2, 1234)] == [
        f"0 {many}", f"1 {noun}", f"2 {many}", f"1,234 {many}"]


@pytest.mark.parametrize(("words", "listed", "few", "hint"), [
    ([], "", "", None), (["a"], "'a'", "'a'", "write 'a'"),
    (["a", "b"], "'a' or 'b'", "'a', 'b'", "choose one of 'a' or 'b'"),
    (["a", "b", "c"], "'a', 'b' or 'c'", "'a', 'b', 'c'", "choose one of 'a', 'b' or 'c'"),
    (["a", "b", "c", "d"], "'a', 'b', 'c' or 'd'", "'a', 'b', 'c' and 1 more", "choose one of 'a', 'b', 'c' or 'd'"),
])
def test_words_are_listed_whole_or_by_the_first_few(
    words: list[str], listed: str, few: str, hint: str | None
) -> None:
    assert (spelling.listed(words), spelling.first_few(words), spelling.choose(words, None)) == (listed, few, hint)
    assert spelling.joined(words, "and") == listed.replace(" or ", " and ").replace("'", "")
    assert spelling.first_repeated(words) is None
    assert spelling.first_repeated([*words, "z", "z", *words]) == "z"


def test_words_that_run_from_right_to_left_are_isolated() -> None:
    assert spelling.isolated("א ב 0.62–0.78") == "\u2068א ב\u2069 0.62–0.78"
    assert spelling.isolated("a\u202eb\tc\x00") == "a\ufffdb\tc\ufffd"


@pytest.mark.parametrize(("letters", "begin", "packages"), [
    ("测", "1 letter (Chinese)", "fonts-noto-cjk"), ("すカ", "2 letters (Japanese)", "fonts-noto-cjk"),
    ("한ع", "2 letters (Korean and Arabic)", "fonts-noto-cjk fonts-noto-core"),
    ("אกअ", "3 letters (Hebrew, Thai and Devanagari)", "fonts-noto-core"),
])
def test_letters_that_no_font_has_are_counted_with_the_packages_that_have_them(
    letters: str, begin: str, packages: str
) -> None:
    assert spelling.missing_letters_sentence(letters) == (
        f"card.pdf shows boxes for {begin}, such as '{letters[0]}', which no font here has; install one (Debian, "
        f"Ubuntu: apt-get install {packages}) and run again")
