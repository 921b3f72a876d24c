"""The texts: where they are looked for, that nothing is ever downloaded, and the traps of torchtext."""

import random
import socket
from pathlib import Path

import pytest
import torch
from torchtext import data

from attnlab.corpora.text import (
    IMDB,
    NEEDED,
    ONLY_SAMPLE_VARIABLE,
    WIKITEXT2,
    by_length,
    folder,
    imdb,
    is_sample,
    next_token_batches,
    wikitext2,
)  # fmt: skip

ROOT = Path(__file__).parents[3]
DATA = ROOT / "src" / "attnlab" / "corpora" / "data"

FILES = {
    "wikitext-2/wikitext-2/wiki.train.tokens": " \n = Tea = \n \n the tea is hot \n",
    "wikitext-2/wikitext-2/wiki.valid.tokens": " the tea \n",
    "wikitext-2/wikitext-2/wiki.test.tokens": " is hot \n",
    "imdb/aclImdb/train/pos/10_8.txt": "third",
    "imdb/aclImdb/train/pos/2_7.txt": "second",
    "imdb/aclImdb/train/pos/0_9.txt": "first\nand its second line\n",
    "imdb/aclImdb/train/neg/1_2.txt": "not good",
    "imdb/aclImdb/test/pos/0_8.txt": "good",
    "imdb/aclImdb/test/neg/0_1.txt": "bad",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with data sets of a few words, in the layouts of the real ones."""
    for name, words in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(words, encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = lambda *_, **__: pytest.fail("it wants the network")  # noqa: E731
    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(data.Dataset, "download", refused)


def a_field(**options: object) -> data.Field:
    return data.Field(tokenize=str.split, **options)


def words(count: int) -> data.Dataset:
    """A data set for language modelling: one example, the words "0", "1", and so on."""
    field = a_field(eos_token="<eos>")
    example = data.Example.fromlist([[str(n) for n in range(count)]], [("text", field)])
    dataset = data.Dataset([example], [("text", field)])
    field.build_vocab(dataset)
    return dataset


# ---- where texts are ----


@pytest.mark.parametrize("name", NEEDED)
def test_the_sample_is_never_taken_unasked(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as gone:
        folder(name, sample=True, root=tmp_path)
    assert "sample=True" not in str(gone.value), "it is not advised where it is gone"
    (tmp_path / "sample").symlink_to(DATA / "sample")
    assert folder(name, sample=True, root=tmp_path) == tmp_path / "sample" / name
    with pytest.raises(FileNotFoundError) as caught:
        folder(name, root=tmp_path)
    message = str(caught.value)
    assert str(tmp_path / name) in message, "where it looked"
    assert str(tmp_path / "README.md") in message, "how to put the data there"
    assert "sample=True" in message, "how to ask for the sample"
    # It says how in a file that is there, to where git does not look.
    assert f"src/attnlab/corpora/data/{name}" in (DATA / "README.md").read_text(encoding="utf-8")
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert f"src/attnlab/corpora/data/{name.partition('/')[0]}/" in ignored


@pytest.mark.parametrize("gone", FILES)
def test_half_a_data_set_is_none(gone: str, root: Path) -> None:
    name = IMDB if gone.startswith(IMDB) else WIKITEXT2
    for file in (root / gone).parent.glob("*.txt"):
        file.unlink()
    (root / gone).unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError, match=Path(gone).parts[-2 if name == IMDB else -1]):
        folder(name, root=root)


def test_the_readers_own_data_come_before_the_sample(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder(WIKITEXT2, root=root) == root / "wikitext-2" / "wikitext-2"
    (root / "sample").symlink_to(DATA / "sample")
    for variable, found, least in (("", root / WIKITEXT2, 11), ("1", root / "sample" / WIKITEXT2, 2543)):
        monkeypatch.setenv(ONLY_SAMPLE_VARIABLE, variable)
        assert folder(WIKITEXT2, sample=True, root=root) == found
        assert is_sample(found, root) == bool(variable)
        assert len(wikitext2(a_field(), sample=True, root=root)[0][0].text) == least
    with pytest.raises(ValueError, match="name must be one of wikitext-2/wikitext-2, imdb/aclImdb, got 'x'"):
        folder("x")


# ---- what is read ----


def test_wikitext_is_read_with_its_line_ends(root: Path) -> None:
    ours = wikitext2(a_field(), root=root)
    assert ours[0][0].text == ["<eos>", "=", "Tea", "=", "<eos>", "<eos>", "the", "tea", "is", "hot", "<eos>"]
    assert [len(split) for split in ours] == [1, 1, 1]


def test_reviews_are_read_to_their_ends_in_the_order_of_their_numbers(root: Path) -> None:
    train, test = imdb(a_field(), data.LabelField(), root=root)
    assert [review.text[0] for review in train] == ["first", "second", "third", "not"]
    assert [review.label for review in train] == ["pos", "pos", "pos", "neg"]
    assert [review.text for review in test] == [["good"], ["bad"]]
    assert train[0].text == ["first", "and", "its", "second", "line"]


# ---- batches ----


@pytest.fixture
def reviews() -> data.Dataset:
    field = a_field()
    train, _ = imdb(field, data.LabelField(), sample=True, root=DATA)
    field.build_vocab(train)
    train.fields["label"].build_vocab(train)
    return train


def test_neighbours_in_length_share_a_batch_and_every_review_comes_once(reviews: data.Dataset) -> None:
    batches = by_length(reviews, 4, seed=0)
    lengths = [len(review.text) for review in reviews]
    # 26 reviews make six batches of four, and the two longest are left over.
    assert max(batch.text.shape for batch in batches) == (max(lengths), 2)
    words_read = sum((batch.text != 1).sum() for batch in batches)
    assert words_read == sum(lengths)
    assert words_read / sum(batch.text.numel() for batch in batches) > 0.75


def test_the_seed_alone_decides_the_order(reviews: data.Dataset) -> None:
    def widths(seed: int | None) -> list[int]:
        return [len(batch.text) for batch in by_length(reviews, 4, seed)]

    first = widths(0)
    random.seed(5)
    before = random.getstate()
    assert widths(0) == first
    assert widths(1) != first
    assert sorted(widths(1)) == sorted(first) == widths(None)
    assert random.getstate() == before, "Python's own numbers are left alone"


@pytest.mark.parametrize("count", [40, 41, 44, 45, 59])
def test_the_target_is_the_text_one_later_and_columns_continue(count: int) -> None:
    dataset = words(count)
    batches = next_token_batches(dataset, batch_size=4, steps=5)
    text = torch.cat([text for text, _ in batches])  # (rows - 1, 4)
    assert text[1:].equal(torch.cat([target for _, target in batches])[:-1])
    rows = -(-count // 4)
    for column, first in zip(text.T.tolist(), range(0, count, rows), strict=True):
        expected = [str(n) if n < count else "<pad>" for n in range(first, first + rows - 1)]
        assert [dataset.fields["text"].vocab.itos[n] for n in column] == expected
    # torchtext's own iterator clears it.
    assert dataset.fields["text"].eos_token == "<eos>"
    dataset.fields["text"].batch_first = True
    text, target = next_token_batches(dataset, batch_size=4, steps=5)[0]
    assert text.shape == target.shape == (4, 5)
