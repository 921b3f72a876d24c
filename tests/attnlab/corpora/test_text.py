"""The texts: where they are looked for, that nothing is ever downloaded, and the traps of torchtext."""

import random
import socket
from pathlib import Path

import pytest
import torch
from torchtext import data, datasets
from torchtext.data import get_tokenizer

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

# Not attnlab.corpora.text.DATA: test_planted_faults.py tests a copy of the package, with no texts beside it.
ROOT = Path(__file__).parents[3]
DATA = ROOT / "book" / "attnlab" / "corpora" / "data"

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
    def refuse(*arguments: object, **more: object) -> None:
        raise AssertionError("it wants the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(data.Dataset, "download", refuse)


def a_field(**options: object) -> data.Field:
    return data.Field(tokenize=str.split, **options)


def words(count: int) -> data.Dataset:
    """A data set for language modelling: one example, the words "0", "1", and so on."""
    field = a_field(eos_token="<eos>")
    dataset = data.Dataset(
        [data.Example.fromlist([[str(n) for n in range(count)]], [("text", field)])], [("text", field)]
    )
    field.build_vocab(dataset)
    return dataset


class TestFolder:
    def test_reads_what_the_reader_put_there(self, root: Path) -> None:
        assert folder(WIKITEXT2, root=root) == root / "wikitext-2" / "wikitext-2"

    @pytest.mark.parametrize("name", NEEDED)
    def test_the_sample_is_never_taken_unasked(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "sample").symlink_to(DATA / "sample")
        assert folder(name, sample=True, root=tmp_path) == tmp_path / "sample" / name
        with pytest.raises(FileNotFoundError) as caught:
            folder(name, root=tmp_path)
        message = str(caught.value)
        assert str(tmp_path / name) in message, "where it looked"
        assert str(tmp_path / "README.md") in message, "how to put the data there"
        assert "sample=True" in message, "how to ask for the sample"

    @pytest.mark.parametrize("gone", FILES)
    def test_half_a_data_set_is_none(self, gone: str, root: Path) -> None:
        name = IMDB if gone.startswith(IMDB) else WIKITEXT2
        for file in (root / gone).parent.glob("*.txt"):
            file.unlink()
        (root / gone).unlink(missing_ok=True)
        with pytest.raises(FileNotFoundError, match=Path(gone).parts[-2 if name == IMDB else -1]):
            folder(name, root=root)

    def test_the_readers_own_data_come_before_the_sample(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "sample").symlink_to(DATA / "sample")
        monkeypatch.delenv(ONLY_SAMPLE_VARIABLE, raising=False)
        own = folder(WIKITEXT2, sample=True, root=root)
        assert own == root / WIKITEXT2
        assert not is_sample(own, root)
        monkeypatch.setenv(ONLY_SAMPLE_VARIABLE, "1")
        sample = folder(WIKITEXT2, sample=True, root=root)
        assert sample == root / "sample" / WIKITEXT2
        assert is_sample(sample, root)

    def test_a_sample_that_is_gone_is_not_advised(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as caught:
            folder(IMDB, sample=True, root=tmp_path)
        assert "sample=True" not in str(caught.value)

    def test_refuses_another_name(self) -> None:
        with pytest.raises(
            ValueError, match="name must be one of wikitext-2/wikitext-2, imdb/aclImdb, got 'x'"
        ):
            folder("x")

    def test_says_how_in_a_file_that_is_there_and_kept_out_of_git(self) -> None:
        told = (DATA / "README.md").read_text(encoding="utf-8")
        ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
        for name in NEEDED:
            assert f"book/attnlab/corpora/data/{name}" in told
            assert f"book/attnlab/corpora/data/{name.partition('/')[0]}/" in ignored


class TestWikiText2:
    def test_is_what_torchtext_reads(self, root: Path) -> None:
        ours = wikitext2(a_field(), root=root)
        theirs = datasets.WikiText2.splits(a_field(), path=str(root / WIKITEXT2))
        assert [split[0].text for split in ours] == [split[0].text for split in theirs]
        assert ours[0][0].text == [
            "<eos>",
            "=",
            "Tea",
            "=",
            "<eos>",
            "<eos>",
            "the",
            "tea",
            "is",
            "hot",
            "<eos>",
        ]
        assert [len(split) for split in ours] == [1, 1, 1]

    def test_reads_the_real_data_beside_the_sample(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "sample").symlink_to(DATA / "sample")
        monkeypatch.delenv(ONLY_SAMPLE_VARIABLE, raising=False)
        assert len(wikitext2(a_field(), sample=True, root=root)[0][0].text) == 11
        monkeypatch.setenv(ONLY_SAMPLE_VARIABLE, "1")
        assert len(wikitext2(a_field(), sample=True, root=root)[0][0].text) > 2000


class TestImdb:
    def test_reviews_come_in_the_order_of_their_numbers(self, root: Path) -> None:
        train, test = imdb(a_field(), data.LabelField(), root=root)
        assert [review.text[0] for review in train] == ["first", "second", "third", "not"]
        assert [review.label for review in train] == ["pos", "pos", "pos", "neg"]
        assert [review.text for review in test] == [["good"], ["bad"]]

    def test_a_review_is_read_to_its_end(self, root: Path) -> None:
        train, _ = imdb(a_field(), data.LabelField(), root=root)
        assert train[0].text == ["first", "and", "its", "second", "line"]

    def test_the_same_reviews_as_torchtexts(self) -> None:
        ours = imdb(a_field(), data.LabelField(), sample=True, root=DATA)
        theirs = datasets.IMDB.splits(
            a_field(), data.LabelField(), path=str(folder(IMDB, sample=True, root=DATA))
        )
        for mine, their in zip(ours, theirs, strict=True):
            assert sorted((each.label, each.text) for each in mine) == sorted(
                (each.label, each.text) for each in their
            )


class TestSample:
    """What the chapter and its readers may count on."""

    def test_wikitext_2_has_its_layout(self) -> None:
        text = (folder(WIKITEXT2, sample=True, root=DATA) / "wiki.train.tokens").read_text(encoding="utf-8")
        assert text.startswith(" \n = Lighthouse = \n \n ")
        assert " = = History = = " in text
        assert " <unk> " in text
        assert " @-@ " in (folder(WIKITEXT2, sample=True, root=DATA) / "wiki.valid.tokens").read_text(
            encoding="utf-8"
        )
        assert " @,@ " in text
        assert all(line.startswith(" ") and line.endswith(" ") for line in text.splitlines())

    def test_sizes(self) -> None:
        assert [len(split[0].text) for split in wikitext2(a_field(), sample=True, root=DATA)] == [
            2543,
            517,
            508,
        ]
        train, test = imdb(a_field(), data.LabelField(), sample=True, root=DATA)
        assert (len(train), len(test)) == (26, 12)

    def test_reviews_are_one_line_each_ragged_and_rated(self) -> None:
        files = sorted(folder(IMDB, sample=True, root=DATA).rglob("*.txt"))
        tokenize = get_tokenizer("basic_english")
        for file in files:
            text = file.read_text(encoding="utf-8")
            assert text.count("\n") == 1
            assert text.endswith("\n")
            rating = int(file.stem.partition("_")[2])
            assert rating >= 7 if file.parent.name == "pos" else rating <= 4
        assert any("<br /><br />" in file.read_text(encoding="utf-8") for file in files)
        assert sum(len(tokenize(file.read_text(encoding="utf-8"))) > 500 for file in files) == 5


class TestByLength:
    @pytest.fixture
    def reviews(self) -> data.Dataset:
        field = a_field()
        train, _ = imdb(field, data.LabelField(), sample=True, root=DATA)
        field.build_vocab(train)
        train.fields["label"].build_vocab(train)
        return train

    def test_neighbours_in_length_share_a_batch(self, reviews: data.Dataset) -> None:
        batches = by_length(reviews, 4, seed=0)
        in_order = sorted((len(review.text) for review in reviews), reverse=True)
        # 26 reviews make six batches of four, and the two longest are left over.
        assert sorted((batch.text.shape for batch in batches), reverse=True)[0] == (in_order[0], 2)
        padding = sum((batch.text == 1).sum() for batch in batches) / sum(b.text.numel() for b in batches)
        assert padding < 0.25

    def test_every_review_once(self, reviews: data.Dataset) -> None:
        batches = by_length(reviews, 4, seed=0)
        assert sum((batch.text != 1).sum() for batch in batches) == sum(len(each.text) for each in reviews)

    def test_the_seed_alone_decides_the_order(self, reviews: data.Dataset) -> None:
        def widths(seed: int | None) -> list[int]:
            return [len(batch.text) for batch in by_length(reviews, 4, seed)]

        before = random.getstate()
        first = widths(0)
        random.seed(5)
        assert widths(0) == first
        assert widths(1) != first
        assert sorted(widths(1)) == sorted(first) == widths(None)
        random.setstate(before)

    def test_leaves_pythons_random_numbers_alone(self, reviews: data.Dataset) -> None:
        before = random.getstate()
        by_length(reviews, 4, seed=0)
        assert random.getstate() == before


class TestNextTokenBatches:
    @pytest.mark.parametrize("count", [40, 41, 44, 45, 59])
    def test_target_is_the_text_one_later_and_columns_continue(self, count: int) -> None:
        dataset = words(count)
        batches = next_token_batches(dataset, batch_size=4, steps=5)
        text = torch.cat([text for text, _ in batches])  # (rows - 1, 4)
        target = torch.cat([target for _, target in batches])
        assert text[1:].equal(target[:-1])
        named = [[dataset.fields["text"].vocab.itos[n] for n in column] for column in text.T.tolist()]
        rows = -(-count // 4)
        for column, first in zip(named, range(0, count, rows), strict=True):
            expected = [str(n) if n < count else "<pad>" for n in range(first, first + rows - 1)]
            assert column == expected

    def test_the_field_keeps_its_eos_token(self) -> None:
        dataset = words(40)
        next_token_batches(dataset, batch_size=4, steps=5)
        assert dataset.fields["text"].eos_token == "<eos>"

    def test_torchtexts_own_clears_it(self) -> None:
        dataset = words(40)
        next(iter(data.BPTTIterator(dataset, 4, 5)))
        assert dataset.fields["text"].eos_token is None

    def test_batch_first(self) -> None:
        dataset = words(40)
        dataset.fields["text"].batch_first = True
        text, target = next_token_batches(dataset, batch_size=4, steps=5)[0]
        assert text.shape == target.shape == (4, 5)
