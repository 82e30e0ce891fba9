"""A small real tokenizer made on the spot, Qwen3's where it has been fetched, and data sets recorded by the store."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from curation import CurationProfile, Filters, KeepRatios, Searches, curate
from sandboxes.images import cache_folder
from sharding.manifest import CurationFacts, FileFacts, Manifest, PackFacts, TemplateFacts, TokenizerFacts
from sharding.packs import cut_to_context, pack_slices, write_packs
from sharding.shards import MappedDocuments, Tokens, TokenShards
from sharding.tokenise import TokenisedConversation
from sharding.writer import ShardWriter
from tests.curation.recordings import Texts, a_header, record_turns, turn
from trajectories import Action, Dataset, SystemPrompt, compact

PAD = 9999
_TEXTS = [
    "### Turn 1\n\n**Action:**\n```json\n",
    "**Environment Observation:**\nuser@host:~$ ls -la\ntotal 8\n-rw-r--r-- 1 user user 12 notes.txt\n",
    "system user assistant the quick brown fox jumps over the lazy dog",
    "<|im_end|> <|im_start|>",
] * 3

PLAIN_TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
)


def make_tokenizer(folder: Path, *, chat_template: str | None, special: tuple[str, ...]) -> Path:
    """Train a byte-level BPE of a few hundred ids and save it as transformers does."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        _TEXTS, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    )
    backend.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token=special[0], pad_token=special[0])
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer whose pad token is its stop token, and a chat template that is fit for training."""
    return make_tokenizer(
        tmp_path_factory.mktemp("tiny"), chat_template=PLAIN_TEMPLATE, special=("<|im_end|>", "<|im_start|>")
    )


@pytest.fixture(scope="session")
def tokenizer_without_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer that knows nothing of chats."""
    return make_tokenizer(tmp_path_factory.mktemp("bare"), chat_template=None, special=("</s>",))


@pytest.fixture(scope="session")
def qwen3() -> Path:
    """The folder of Qwen3's tokenizer, as `scripts/fetch_tokenizer.sh` leaves it."""
    folder = Path(os.environ.get("WORLDTAPE_TOKENIZER", cache_folder() / "tokenizers" / "qwen3"))
    if not (folder / "tokenizer.json").is_file():
        pytest.skip("Qwen3's tokenizer is not here; run: scripts/fetch_tokenizer.sh")
    return folder


def record(dataset: Dataset, trajectory_id: str, texts: Texts, *, domain: str = "terminal", run: str = "r1") -> None:
    """Record one whole trajectory; ``texts`` are the action and the observation of every turn."""
    prompt = SystemPrompt(task_description="A shell.", initial_state="$ ")
    header = a_header(trajectory_id, run=run, domain=domain, prompt=prompt)
    turns = [turn(Action.keys((action, 1.0)), observation) for action, observation in texts]
    record_turns(dataset, header, turns)


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def decoded(tokenizer: PreTrainedTokenizerFast, tokens: Tokens | list[int]) -> str:
    """The text of one sequence of tokens; what transformers promises is that of one or of several."""
    text = tokenizer.decode(tokens)
    assert isinstance(text, str)
    return text


def spelled(tokenizer: PreTrainedTokenizerFast, tokens: Tokens) -> list[str]:
    """The tokens as the vocabulary spells them."""
    names = tokenizer.convert_ids_to_tokens(tokens.tolist())
    assert isinstance(names, list)
    return names


def some_turns(seed: int) -> Texts:
    """One to seven turns of a shell, the same ones for the same seed."""
    rng = random.Random(seed)
    words = ["notes.txt", "naïve", "\x1b[0m", "零", "<|im_end|>", "```", "total 8", "\n"]
    return [
        (f"cat file{turn}\n", " ".join(rng.choices(words, k=rng.randint(0, 40)))) for turn in range(rng.randint(1, 7))
    ]


_ODD: dict[int, Texts] = {0: [], 1: [("true\n", "")]}


@pytest.fixture
def recorded(tmp_path: Path) -> Dataset:
    """Twelve trajectories of two domains and runs in row groups of three turns; one has no turn, one only silence."""
    dataset = Dataset(tmp_path / "data")
    for number in range(12):
        domain, run = ("terminal", "r1") if number < 8 else ("mcp", "r2")
        texts = _ODD.get(number, some_turns(number))
        record(dataset, f"t{number:02d}", texts, domain=domain, run=run)
    for run in ("r1", "r2"):
        compact(dataset, run)
    for part in dataset.turn_parts():
        rows = pq.read_table(part.path, partitioning=None)
        pq.write_table(rows, part.path, row_group_size=3)
    return dataset


def plain_profile(keep_ratio: float, **others: float) -> CurationProfile:
    """One that keeps turns by this ratio, or that of their class, and masks none for anything else."""
    ratios = KeepRatios(**dict.fromkeys(KeepRatios.model_fields, keep_ratio) | others)
    return CurationProfile(
        keep_ratios=ratios, filters=Filters.none(), searches=Searches(secrets=False, duplicates=False)
    )


@pytest.fixture
def curated(recorded: Dataset) -> Dataset:
    """``recorded``, every turn of which is kept."""
    curate(recorded, profile=plain_profile(1.0))
    return recorded


def write_shards(
    folder: Path, losses: Sequence[Sequence[bool]], *, context: int, vocabulary_size: int = 2**16
) -> TokenShards:
    """Shards of documents with these loss masks; token ``i`` of document ``d`` is ``100 d + i``."""
    data_file = folder / "small.ds"
    with ShardWriter(data_file, "uint16") as writer:
        for number, loss in enumerate(losses):
            tokens = 100 * number + np.arange(len(loss), dtype=np.uint32)
            writer.append(TokenisedConversation(tokens, np.array(loss, np.bool_)))
    cut = cut_to_context(MappedDocuments(data_file, "uint16"), context, "split")
    packs = pack_slices(cut.slices, context)
    with (folder / "packs.parquet").open("wb") as file:
        write_packs(packs, file)
    (folder / "tokenizer").mkdir()
    (folder / "tokenizer" / "tokenizer.json").write_text("a stand-in")
    manifest = Manifest(
        name="small",
        dtype="uint16",
        num_documents=len(losses),
        num_tokens=sum(map(len, losses)),
        num_loss_tokens=sum(map(sum, losses)),
        num_turns=len(losses),
        num_kept_turns=len(losses),
        refused={},
        tokenizer=TokenizerFacts(name="none", sha256="", vocabulary_size=vocabulary_size, pad_token_id=PAD),
        chat_template=TemplateFacts(origin="file", reason="none", sha256="", stop_token="", stop_token_id=PAD),
        curation=CurationFacts(name="none", fingerprint=""),
        packs=PackFacts(
            context=context,
            overflow="split",
            num_packs=len(packs),
            num_tokens=packs.num_tokens,
            fill=packs.num_tokens / (len(packs) * context),
            num_split_documents=cut.num_split_documents,
            num_dropped_documents=0,
            num_dropped_tokens=cut.num_dropped_tokens,
        ),
        files=FileFacts.below(folder),
    )
    (folder / "manifest.json").write_text(manifest.to_json())
    return TokenShards(folder)


@pytest.fixture(scope="session")
def shards_of() -> Callable[..., TokenShards]:
    return write_shards
