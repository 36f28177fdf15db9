"""Which choices make a neural language model? (No torch here either.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from dragoman.contracts import DataKind, Work
from dragoman.neural.recipes import STRICT, LearningOptions, NetworkRecipe
from dragoman.text.options import RunningTextOptions
from dragoman.texts import Text

if TYPE_CHECKING:
    from dragoman.neural.generation import NeuralLanguageModel


@dataclass(frozen=True, config=STRICT)
class RecurrentLanguageOptions:
    """The shape of a recurrent network that reads a text and predicts how it goes on."""

    cell: Literal["lstm", "gru", "gru-before", "rnn", "rnn-relu"] = Field(
        default="lstm", description="gru resets after the product, gru-before before it"
    )
    embedding: int = Field(default=128, ge=1, description="features of a piece")
    width: int = Field(default=384, ge=1, description="features of a state")
    layers: int = Field(default=1, ge=1, description="cells one above the other")
    residual: bool = Field(default=False, description="a layer adds to the one below it, where they are equally wide")
    layer_norm: bool = Field(default=False, description="inside the cells; they have no fused kernel then")
    dropout: float = Field(default=0.1, ge=0, le=0.99, description="on embeddings, between layers, on the output")
    tied: bool = Field(default=False, description="the output matrix is the embedding, behind one more matrix")


@dataclass(frozen=True, config=STRICT)
class CausalOptions:
    """The shape of a Transformer that looks at what came before only."""

    width: int = Field(default=192, ge=2, description="features of a position (d_model)")
    inner: int = Field(default=768, ge=1, description="features inside the feed-forward")
    heads: int = Field(default=4, ge=1, description="attention heads; must divide the width")
    layers: int = Field(default=3, ge=1, description="layers one above the other")
    norm: Literal["pre", "post"] = Field(default="pre", description="layer norm before or after each sublayer")
    activation: Literal["relu", "gelu"] = Field(default="gelu", description="inside the feed-forward")
    dropout: float = Field(default=0.1, ge=0, le=0.99, description="on embeddings and on the output of each sublayer")
    attention_dropout: float = Field(default=0.0, ge=0, le=0.99, description="on attention weights")
    inner_dropout: float = Field(default=0.0, ge=0, le=0.99, description="inside the feed-forward")
    tied: bool = Field(default=True, description="the output matrix is the embedding")

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"heads={self.heads} does not divide width={self.width}")


@dataclass(frozen=True, config=STRICT)
class WindowOptions:
    """The shape of a network without state: the last few pieces, a hidden layer, the next piece."""

    order: int = Field(default=16, ge=1, description="pieces that are looked at, n - 1 of Bengio et al.")
    embedding: int = Field(default=32, ge=1, description="features of a piece")
    width: int = Field(default=512, ge=1, description="features of the hidden layer")
    direct: bool = Field(default=False, description="embeddings reach the output past the hidden layer as well")
    dropout: float = Field(default=0.0, ge=0, le=0.99, description="on the hidden layer")


@dataclass(frozen=True, config=STRICT)
class LanguageLearning(LearningOptions):
    """How a language model learns."""

    max_updates: int = Field(default=6_000, ge=1, description="length of the schedule in updates")
    tokens_per_batch: int = Field(default=4096, ge=1, description="pieces of a batch, padding included")
    learning_rate: float = Field(default=3e-3, gt=0, description="at the end of the warm-up")
    warmup_updates: int = Field(default=200, ge=0, description="linear way up, in updates of the schedule")
    label_smoothing: float = Field(default=0.0, ge=0, lt=1, description="probability mass spread over all pieces")
    validate_every: int = Field(default=500, ge=1, description="updates of the schedule between looks at the dev set")
    average: int = Field(
        default=3, ge=1, description="best checkpoints that are averaged, if the average is better on dev"
    )
    window: int = Field(
        default=128, ge=1, description="pieces of a file in a row of a batch: gradients go back no further"
    )
    dev_characters: int = Field(default=50_000, ge=1, description="dev text that is looked at, about so much")


@dataclass(frozen=True, config=STRICT, kw_only=True)
class LanguageRecipe:
    """Any network that is trained on text in one language: what is asked of all of them."""

    kind: ClassVar[str]
    data: ClassVar[DataKind] = DataKind.TEXT
    product: ClassVar[str] = "dragoman.neural.generation:NeuralLanguageModel"
    several_processes: ClassVar[bool] = False
    limits: ClassVar[tuple[str, ...]] = NetworkRecipe.limits

    text: RunningTextOptions = RunningTextOptions()
    model: RecurrentLanguageOptions | CausalOptions | WindowOptions
    training: LanguageLearning = LanguageLearning()

    def train(self, train: Text, dev: Text | None, work: Work) -> NeuralLanguageModel:
        from dragoman.neural.language_lessons import train_language_model

        return train_language_model(self, train, dev, work)


@dataclass(frozen=True, config=STRICT, kw_only=True)
class RecurrentLanguageRecipe(LanguageRecipe):
    """A recurrent network that predicts the next piece of a text, and carries its state on (Mikolov et al. 2010)."""

    kind: ClassVar[str] = "rnn-lm"

    model: RecurrentLanguageOptions = RecurrentLanguageOptions()


@dataclass(frozen=True, config=STRICT, kw_only=True)
class CausalRecipe(LanguageRecipe):
    """A Transformer decoder without encoder, which predicts the next piece of a text (Radford et al. 2018)."""

    kind: ClassVar[str] = "transformer-lm"

    model: CausalOptions = CausalOptions()
    training: LanguageLearning = LanguageLearning(learning_rate=2e-3)


@dataclass(frozen=True, config=STRICT, kw_only=True)
class WindowRecipe(LanguageRecipe):
    """A network that predicts the next piece from a fixed number of pieces before it (Bengio et al. 2003)."""

    kind: ClassVar[str] = "mlp-lm"

    model: WindowOptions = WindowOptions()


RECURRENT = RecurrentLanguageRecipe()
CAUSAL = CausalRecipe()
WINDOW = WindowRecipe()
