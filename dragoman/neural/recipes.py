"""Which choices make a neural translator? (No torch here: recipes are read, printed and compared without it.)"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from dragoman.contracts import Bitext, DataKind, Work
from dragoman.durations import Duration
from dragoman.text.options import TextOptions

if TYPE_CHECKING:
    from dragoman.neural.seq2seq import NeuralTranslator

_SCORES = "dot, scaled, general, additive, average, kernel, learnt-kernel, or a row of your own in neural/attention.py"

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, config=STRICT)
class TransformerOptions:
    """The shape of the network."""

    width: int = Field(default=256, ge=2, description="features of a position (d_model)")
    inner: int = Field(default=1024, ge=1, description="features inside the feed-forward")
    heads: int = Field(default=4, ge=1, description="attention heads; must divide the width")
    encoder_layers: int = Field(default=3, ge=1, description="layers that read the source")
    decoder_layers: int = Field(default=3, ge=1, description="layers that write the target")
    norm: Literal["pre", "post", "none"] = Field(default="pre", description="layer norm before or after each sublayer")
    residual: bool = Field(default=True, description="each sublayer adds to what it reads")
    activation: Literal["relu", "gelu", "none"] = Field(default="relu", description="inside the feed-forward")
    positions: Literal["sinusoidal", "none"] = Field(default="sinusoidal", description="what tells places apart")
    score: str = Field(default="scaled", description=f"how well a position answers: {_SCORES}")
    dropout: float = Field(default=0.1, ge=0, le=0.99, description="on embeddings and on the output of each sublayer")
    attention_dropout: float = Field(default=0.1, ge=0, le=0.99, description="on attention weights")
    inner_dropout: float = Field(default=0.1, ge=0, le=0.99, description="inside the feed-forward")
    tied: bool = Field(default=True, description="the output matrix is the target embedding")

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"heads={self.heads} does not divide width={self.width}")


@dataclass(frozen=True, config=STRICT)
class RecurrentOptions:
    """The shape of a recurrent encoder-decoder that is handed the source's last state (Sutskever et al. 2014)."""

    cell: Literal["lstm", "gru", "gru-before", "rnn", "rnn-relu"] = Field(
        default="lstm", description="gru resets after the product, gru-before before it"
    )
    embedding: int = Field(default=256, ge=1, description="features of a piece")
    width: int = Field(default=256, ge=1, description="features of a state that writes")
    encoder_width: int = Field(default=256, ge=1, description="features of a state that reads, of each direction")
    encoder: Literal["uni", "bi", "conv", "conv-bi", "attention"] = Field(
        default="uni", description="cells that read forwards, or both ways; convolutions likewise; self-attention"
    )
    encoder_layers: int = Field(default=2, ge=1, description="layers that read the source")
    decoder_layers: int = Field(default=2, ge=1, description="layers that write the target")
    turned: bool = Field(default=False, description="read the source from its end (Sutskever et al. 2014, section 3.3)")
    residual: bool = Field(default=False, description="a layer adds to the one below it, where they are equally wide")
    layer_norm: bool = Field(default=False, description="inside the cells; they have no fused kernel then")
    kernel: int = Field(default=3, ge=1, description="conv: positions that a convolution sees at once")
    dilation: int = Field(default=1, ge=1, description="conv: in layer l = 0, 1, .. they lie dilation^l apart")
    gated: bool = Field(default=True, description="conv: gated linear units; else max(0, x)")
    heads: int = Field(default=4, ge=1, description="attention: heads; must divide encoder_width")
    inner: int = Field(default=1024, ge=1, description="attention: features inside the feed-forward")
    dropout: float = Field(default=0.2, ge=0, le=0.99, description="on embeddings, between layers, on the output")
    tied: bool = Field(default=True, description="the output matrix is the target embedding")

    def __post_init__(self) -> None:
        if self.encoder == "attention" and self.encoder_width % self.heads:
            raise ValueError(f"heads={self.heads} does not divide encoder_width={self.encoder_width}")
        if self.turned and self.encoder not in ("uni", "bi"):
            raise ValueError(f"turned=true is for cells: the encoder {self.encoder!r} reads all positions at once")


@dataclass(frozen=True, config=STRICT)
class AttentionOptions(RecurrentOptions):
    """The shape of a recurrent encoder-decoder that looks at the whole source at each step."""

    score: str = Field(default="general", description=f"how well a source position answers: {_SCORES}")
    ask: Literal["before", "after"] = Field(
        default="after", description="the state before a step asks, or the one after it"
    )
    fuse: Literal["inside", "outside"] = Field(
        default="outside", description="the context enters the cell, or meets its state behind it"
    )
    input_feeding: bool = Field(default=False, description="what predicted a piece enters the next step")


@dataclass(frozen=True, config=STRICT)
class LearningOptions:
    """How a network learns. Positions of the schedule are updates; under a time budget they are
    max_updates * elapsed / budget, so that the same schedule fits any budget."""

    max_updates: int = Field(default=20_000, ge=1, description="length of the schedule in updates")
    max_epochs: int = Field(default=0, ge=0, description="stop after so many passes over the data; 0 = no such limit")
    time_budget: Duration = Field(
        default=0.0, ge=0, description='wall-clock time for everything, such as "20m"; 0 = none'
    )
    tokens_per_batch: int = Field(
        default=512, ge=1, description="positions a batch may have on its longer side, padding included"
    )
    accumulate: int = Field(default=1, ge=1, description="batches summed into one update")
    learning_rate: float = Field(default=1e-3, gt=0, description="at the end of the warm-up")
    schedule: Literal["cosine", "inverse-sqrt"] = Field(default="cosine", description="the way down after the warm-up")
    warmup_updates: int = Field(default=1_000, ge=0, description="linear way up, in updates of the schedule")
    beta1: float = Field(default=0.9, ge=0, lt=1, description="AdamW: memory of the mean")
    beta2: float = Field(default=0.98, ge=0, lt=1, description="AdamW: memory of the square")
    weight_decay: float = Field(default=0.0, ge=0, description="AdamW: decoupled decay of matrices")
    clip: float = Field(default=1.0, ge=0, description="largest gradient norm; 0 = no clipping")
    label_smoothing: float = Field(default=0.1, ge=0, lt=1, description="probability mass spread over all pieces")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto", description="of matrix products while training; auto: bf16 where the hardware has it, else fp32"
    )
    validate_every: int = Field(default=2_000, ge=1, description="updates of the schedule between looks at the dev set")
    patience: int = Field(
        default=10, ge=0, description="looks without a better figure before stopping; 0 = never stop early"
    )
    average: int = Field(
        default=5, ge=1, description="best checkpoints that are averaged, if the average is better on dev"
    )


@dataclass(frozen=True, config=STRICT)
class TrainingOptions(LearningOptions):
    """How a translator learns."""

    dev_sentences: int = Field(default=500, ge=1, description="dev sentences that are translated at each look")
    select: Literal["chrf", "bleu", "loss"] = Field(
        default="chrf", description="dev figure that decides which checkpoint is best"
    )
    guidance: float = Field(
        default=0.05, ge=0, le=100, description="weight of the attention's loss where pairs have links (--links)"
    )


RECURRENT = TrainingOptions(
    tokens_per_batch=1024, learning_rate=2e-3, max_updates=12_000, warmup_updates=500, validate_every=1_000
)


@dataclass(frozen=True, config=STRICT)
class BacktranslationOptions:
    """What becomes of text in the target language alone (--monolingual, --reverse); no pairs, no effect."""

    ratio: float = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="synthetic pairs for each real one in an epoch, as far as there are so many",
    )
    decoding: Literal["greedy", "stored"] = Field(
        default="greedy", description="how the reverse model writes the sources: greedily, or as it has stored"
    )
    share_of_budget: float = Field(
        default=0.33, gt=0, lt=1, description="of a time budget, at most so much goes into writing sources"
    )


@dataclass(frozen=True, config=STRICT)
class SearchDefaults:
    """What `translate` does when nothing else is asked for."""

    beam: int = Field(default=5, ge=1, description="hypotheses kept; 1 = greedy")
    alpha: Annotated[float, Field(ge=0, le=10)] | Literal["fit"] = Field(
        default="fit", description='length normalisation; "fit" chooses 0 to 1.2 on dev'
    )
    length_form: Literal["power", "gnmt"] = Field(default="power", description="T^alpha or ((5 + T) / 6)^alpha")
    max_ratio: Annotated[float, Field(gt=0, le=1000)] | Literal["fit"] = Field(
        default="fit",
        description='output pieces at most this times the source\'s, + 10; "fit": 2, or what the training pairs need',
    )


@dataclass(frozen=True, config=STRICT, kw_only=True)
class NetworkRecipe:
    """Any network that is trained on sentence pairs: what is asked of all of them."""

    kind: ClassVar[str]
    data: ClassVar[DataKind] = DataKind.BITEXT
    product: ClassVar[str] = "dragoman.neural.seq2seq:NeuralTranslator"
    several_processes: ClassVar[bool] = True
    limits: ClassVar[tuple[str, ...]] = ("training.max_updates", "training.max_epochs", "training.time_budget")

    text: TextOptions = TextOptions()
    model: TransformerOptions | RecurrentOptions
    training: TrainingOptions = TrainingOptions()
    search: SearchDefaults = SearchDefaults()
    backtranslation: BacktranslationOptions = BacktranslationOptions()

    def train(self, train: Bitext, dev: Bitext | None, work: Work) -> NeuralTranslator:
        from dragoman.neural.lessons import train_translator

        return train_translator(self, train, dev, work)


@dataclass(frozen=True, config=STRICT, kw_only=True)
class TransformerRecipe(NetworkRecipe):
    """Attention is all it needs (Vaswani et al. 2017)."""

    kind: ClassVar[str] = "transformer"

    model: TransformerOptions = TransformerOptions()


@dataclass(frozen=True, config=STRICT, kw_only=True)
class FixedVectorRecipe(NetworkRecipe):
    """A recurrent network that writes from the source's last state alone (Sutskever et al. 2014)."""

    kind: ClassVar[str] = "rnn-fixed"
    product: ClassVar[str] = "dragoman.neural.seq2seq:FixedVectorTranslator"

    model: RecurrentOptions = RecurrentOptions()
    training: TrainingOptions = RECURRENT


@dataclass(frozen=True, config=STRICT, kw_only=True)
class RecurrentRecipe(NetworkRecipe):
    """A recurrent network that looks at the source while it writes (Bahdanau et al. 2015, Luong et al. 2015)."""

    kind: ClassVar[str] = "rnn"
    product: ClassVar[str] = "dragoman.neural.seq2seq:RecurrentTranslator"

    model: AttentionOptions = AttentionOptions()
    training: TrainingOptions = RECURRENT


@dataclass(frozen=True, config=STRICT, kw_only=True)
class AutoRecipe:
    """A network made to measure: what a user may still say."""

    kind: ClassVar[str]
    data: ClassVar[DataKind] = DataKind.BITEXT
    product: ClassVar[str] = NetworkRecipe.product
    several_processes: ClassVar[bool] = True
    limits: ClassVar[tuple[str, ...]] = ("time_budget",)

    time_budget: Duration = Field(
        default=0.0,
        ge=0,
        description='wall-clock time for everything, such as "20m"; 0 = as long as the corpus feeds it',
    )
    max_updates: int = Field(default=0, ge=0, description="length of the schedule in updates; 0 = as the corpus asks")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto", description="of matrix products while training; auto: bf16 where the hardware has it, else fp32"
    )

    backtranslation: BacktranslationOptions = BacktranslationOptions()

    def settle(self, train: Bitext, work: Work, before: NetworkRecipe | None) -> NetworkRecipe:
        """The recipe to train; the one that this training began with where there is one."""
        if before is not None:
            return replace(before, training=replace(before.training, time_budget=self.time_budget))
        from dragoman.neural.auto import choose

        return choose(self, train, work)

    def train(self, train: Bitext, dev: Bitext | None, work: Work) -> NeuralTranslator:
        return self.settle(train, work, None).train(train, dev, work)


@dataclass(frozen=True, config=STRICT, kw_only=True)
class AutoTransformerRecipe(AutoRecipe):
    """A Transformer whose vocabulary, size, dropout, batch and schedule are chosen for the corpus and the time."""

    kind: ClassVar[str] = "transformer-auto"


@dataclass(frozen=True, config=STRICT, kw_only=True)
class AutoRecurrentRecipe(AutoRecipe):
    """LSTMs with attention whose vocabulary, size, dropout, batch and schedule are chosen in the same way."""

    kind: ClassVar[str] = "rnn-auto"


TINY = TransformerRecipe(
    text=TextOptions(pieces=4000),
    model=TransformerOptions(width=128, inner=512, encoder_layers=2, decoder_layers=2),
    training=TrainingOptions(max_updates=4_000, warmup_updates=400, validate_every=400, learning_rate=2e-3),
)
SMALL = TransformerRecipe()
BASE = TransformerRecipe(
    text=TextOptions(pieces=16_000),
    model=TransformerOptions(width=512, inner=2048, heads=8, encoder_layers=6, decoder_layers=6),
    training=TrainingOptions(
        max_updates=100_000,
        warmup_updates=4_000,
        tokens_per_batch=4096,
        learning_rate=7e-4,
        schedule="inverse-sqrt",
    ),
)
AUTO = AutoTransformerRecipe()
RECURRENT_AUTO = AutoRecurrentRecipe()
FIXED = FixedVectorRecipe(model=RecurrentOptions(turned=True))
BAHDANAU = RecurrentRecipe(
    model=AttentionOptions(
        cell="gru-before",
        encoder="bi",
        encoder_layers=1,
        decoder_layers=1,
        score="additive",
        ask="before",
        fuse="inside",
    )
)
LUONG = RecurrentRecipe()
