"""How does the Transformer read a sentence and predict the next piece? (Vaswani et al. 2017)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from dragoman.contracts import PieceTable
from dragoman.neural.attention import MultiHeadAttention, causal
from dragoman.neural.dropout import Dropout
from dragoman.neural.network import (
    Embedding,
    Network,
    OutputLayer,
    Sayable,
    Saying,
    Watched,
    everything,
    initialise_matrices,
)
from dragoman.neural.recipes import TransformerOptions
from dragoman.search.steps import Step


def sinusoids(length: int, width: int) -> Tensor:
    """p_{i,2j} = sin(i / 10000^{2j/d}), p_{i,2j+1} = cos(same), for i = 0 .. length-1, T x D; any d.

    >>> sinusoids(2, 3)[1].round(decimals=3).tolist()
    [0.8410000205039978, 0.5400000214576721, 0.0020000000949949026]
    """
    positions_T1 = torch.arange(length, dtype=torch.float64)[:, None]
    evens = torch.arange(0, width, 2, dtype=torch.float64)
    angles = positions_T1 / 10000 ** (evens / width)
    table_TD = torch.empty(length, width, dtype=torch.float64)
    table_TD[:, 0::2] = angles.sin()
    table_TD[:, 1::2] = angles.cos()[:, : width // 2]
    return table_TD.float()


class Positions(nn.Module):
    """sqrt(d) * embedding + sinusoid; the table grows with the longest sentence met. told: else no sinusoid."""

    table_TD: Tensor

    def __init__(self, width: int, dropout: float, told: bool = True) -> None:
        super().__init__()
        self.width, self.told = width, told
        self.dropout = Dropout(dropout)
        self.register_buffer("table_TD", sinusoids(256, width), persistent=False)

    def forward(self, embedded_BTD: Tensor, start: int = 0) -> Tensor:
        end = start + embedded_BTD.shape[-2]
        if end > len(self.table_TD):
            self.table_TD = sinusoids(2 * end, self.width).to(self.table_TD)
        placed_BTD = embedded_BTD * math.sqrt(self.width)
        if self.told:
            placed_BTD = placed_BTD + self.table_TD[start:end]
        dropped_BTD: Tensor = self.dropout(placed_BTD)
        return dropped_BTD


class Sublayer(nn.Module):
    """The residual road around a sublayer: LN(x + f(x)) ("post") or x + f(LN(x)) ("pre"); to show what they are good
    for, x + f(x) without a norm, and the same without "x +".

    Layer norm runs over the features of one token: (x - mean) / sqrt(var + eps), biased variance.
    """

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.pre = options.norm == "pre"
        self.residual = options.residual
        self.norm = nn.Identity() if options.norm == "none" else nn.LayerNorm(options.width)
        self.dropout = Dropout(options.dropout)

    def before(self, states: Tensor) -> Tensor:
        asked: Tensor = self.norm(states) if self.pre else states
        return asked

    def after(self, states: Tensor, change: Tensor) -> Tensor:
        dropped: Tensor = self.dropout(change)
        added = states + dropped if self.residual else dropped
        return added if self.pre else cast(Tensor, self.norm(added))


ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "none": nn.Identity}


class FeedForward(nn.Module):
    """W_2 act(W_1 x + b_1) + b_2, position by position, with a wider inside."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.inner = nn.Linear(options.width, options.inner)
        self.outer = nn.Linear(options.inner, options.width)
        self.activation = ACTIVATIONS[options.activation]()
        self.dropout = Dropout(options.inner_dropout)

    def forward(self, states: Tensor) -> Tensor:
        changed: Tensor = self.outer(self.dropout(self.activation(self.inner(states))))
        return changed


def attention_of(options: TransformerOptions) -> MultiHeadAttention:
    """Attention of the shape that is asked for."""
    return MultiHeadAttention(options.width, options.heads, options.attention_dropout, options.score)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.self_attention = attention_of(options)
        self.self_road = Sublayer(options)
        self.feed_forward = FeedForward(options)
        self.feed_road = Sublayer(options)

    def forward(self, states_BSD: Tensor, allowed_B11S: Tensor | None) -> Tensor:
        asked_BSD = self.self_road.before(states_BSD)
        change_BSD, _ = self.self_attention(asked_BSD, *self.self_attention.remember(asked_BSD), allowed_B11S)
        states_BSD = self.self_road.after(states_BSD, change_BSD)
        return self.feed_road.after(states_BSD, self.feed_forward(self.feed_road.before(states_BSD)))


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, feed-forward."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.self_attention = attention_of(options)
        self.self_road = Sublayer(options)
        self.cross_attention = attention_of(options)
        self.cross_road = Sublayer(options)
        self.feed_forward = FeedForward(options)
        self.feed_road = Sublayer(options)

    def forward(
        self,
        states_BTD: Tensor,
        allowed_TT: Tensor | None,
        source: tuple[Tensor, Tensor],
        allowed_B11S: Tensor | None,
        weighed: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """All target positions at once; see `read_source`."""
        asked_BTD = self.self_road.before(states_BTD)
        change_BTD, _ = self.self_attention(asked_BTD, *self.self_attention.remember(asked_BTD), allowed_TT)
        return self.read_source(self.self_road.after(states_BTD, change_BTD), source, allowed_B11S, weighed)

    def read_source(
        self, states_BTD: Tensor, source: tuple[Tensor, Tensor], allowed_B11S: Tensor | None, weighed: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """What follows the self-attention: the source, then the feed-forward. Returns the states and, if they are
        wanted (weighed), the weights of the source B x H x T x S."""
        asked_BTD = self.cross_road.before(states_BTD)
        change_BTD, weights_BHTS = self.cross_attention(asked_BTD, *source, allowed_B11S, weighed)
        states_BTD = self.cross_road.after(states_BTD, change_BTD)
        return self.feed_road.after(states_BTD, self.feed_forward(self.feed_road.before(states_BTD))), weights_BHTS


class Transformer(Network):
    """Encoder and decoder over piece ids; the output matrix is the target embedding (Press & Wolf 2017).

    With a joint vocabulary source and target share the embedding too.
    """

    watched: Watched

    def __init__(self, options: TransformerOptions, source: PieceTable, target: PieceTable, joint: bool) -> None:
        super().__init__()
        self.options = options
        self.source_table = source
        self.target_table = target
        self.target_embedding = Embedding(len(target), options.width)
        self.source_embedding = self.target_embedding if joint else Embedding(len(source), options.width)
        output = self.target_embedding if options.tied else Embedding(len(target), options.width)
        self.output = OutputLayer(output.weight)
        told = options.positions == "sinusoidal"
        self.source_positions = Positions(options.width, options.dropout, told)
        self.target_positions = Positions(options.width, options.dropout, told)
        self.encoder = nn.ModuleList(EncoderLayer(options) for _ in range(options.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(options) for _ in range(options.decoder_layers))
        self.encoder_norm = nn.LayerNorm(options.width) if options.norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(options.width) if options.norm == "pre" else nn.Identity()
        self.watched = Watched(max(0, options.decoder_layers - 2))
        self.initialise()

    def initialise(self) -> None:
        """Embeddings N(0, 1/d); matrices as everywhere."""
        for module in self.modules():
            if isinstance(module, nn.Embedding) or (isinstance(module, OutputLayer) and not self.options.tied):
                nn.init.normal_(module.weight, std=self.options.width**-0.5)
        initialise_matrices(self)

    @property
    def decoder_layers(self) -> Sequence[DecoderLayer]:
        return cast(Sequence[DecoderLayer], self.decoder)

    def facts(self) -> dict[str, object]:
        return {"attention shown": str(self.watched)}

    def encode(self, sources_BS: Tensor) -> tuple[Tensor, Tensor | None]:
        """States B x S x D and where there is a source, B x 1 x 1 x S (None: everywhere)."""
        present_BS = sources_BS != self.source_table.padding
        allowed_B11S = None if present_BS.all() else present_BS[:, None, None, :]
        states_BSD = self.source_positions(self.source_embedding(sources_BS))
        for layer in self.encoder:
            states_BSD = layer(states_BSD, allowed_B11S)
        return self.encoder_norm(states_BSD), allowed_B11S

    def hidden(self, sources_BS: Tensor, inputs_BT: Tensor) -> Tensor:
        return self.decoded(sources_BS, inputs_BT, weighed=False)[0]

    def hidden_and_weights(self, sources_BS: Tensor, inputs_BT: Tensor) -> tuple[Tensor, Tensor]:
        states_BTD, weights_BTS = self.decoded(sources_BS, inputs_BT, weighed=True)
        assert weights_BTS is not None  # they were asked for
        return states_BTD, weights_BTS

    def decoded(self, sources_BS: Tensor, inputs_BT: Tensor, weighed: bool) -> tuple[Tensor, Tensor | None]:
        """What predicts, and where it is wanted (weighed) what was looked at, see `watched`."""
        memory_BSD, allowed_B11S = self.encode(sources_BS)
        states_BTD = self.target_positions(self.target_embedding(inputs_BT))
        allowed_TT = causal(inputs_BT.shape[1], inputs_BT.device)
        seen_BTS: Tensor | None = None
        for place, layer in enumerate(self.decoder_layers):
            source, watched = layer.cross_attention.remember(memory_BSD), place == self.watched.layer
            states_BTD, weights_BHTS = layer(states_BTD, allowed_TT, source, allowed_B11S, weighed and watched)
            seen_BTS = self.watched.of(weights_BHTS) if watched and weights_BHTS is not None else seen_BTS
        return self.decoder_norm(states_BTD), seen_BTS

    def sentence_vectors(self, sources_BS: Tensor) -> Tensor:
        """The mean of the encoder's states."""
        states_BSD, _ = self.encode(sources_BS)
        present_BS1 = (sources_BS != self.source_table.padding)[..., None]
        return (states_BSD * present_BS1).sum(1) / present_BS1.sum(1)

    def scorer(self, saying: Saying = everything) -> TransformerScorer:
        return TransformerScorer(self, saying)


class LayerCache(NamedTuple):
    """One decoder layer's memory: keys and values of what was said (X: see State) and of the source."""

    own_keys_BHXD: Tensor
    own_values_BHXD: Tensor
    keys_BHSD: Tensor
    values_BHSD: Tensor


class State(NamedTuple):
    """What a search carries between steps. Each hypothesis of each step has a place of its own among the X of the
    caches and stays there. path_BKX: the places that hypothesis k has come by, among those that are filled."""

    sayable: Sayable
    layers: tuple[LayerCache, ...]
    allowed_B11S: Tensor | None
    path_BKX: Tensor
    length: int


class TransformerScorer:
    """The Transformer as a search sees it: one step at a time, keys and values kept (see StepScorer).

    When hypotheses move no key is copied, only their paths are; so the K hypotheses of a sentence ask one memory
    together, as K queries, each of which may look at the places on its path.
    """

    def __init__(self, network: Transformer, saying: Saying) -> None:
        self.network = network
        self.saying = saying
        self.pieces = network.target_table

    def start(self, sources_BS: Tensor, beam: int, capacity: int) -> State:
        memory_BSD, allowed_B11S = self.network.encode(sources_BS)
        options = self.network.options
        shape = (len(sources_BS), options.heads, beam * capacity, options.width // options.heads)
        layers = []
        for layer in self.network.decoder_layers:
            keys_BHSD, values_BHSD = layer.cross_attention.remember(memory_BSD)
            own = memory_BSD.new_empty(shape), memory_BSD.new_empty(shape)
            layers.append(LayerCache(*own, keys_BHSD.contiguous(), values_BHSD.contiguous()))
        nowhere_BKX = torch.ones((len(sources_BS), beam, 0), dtype=torch.bool, device=sources_BS.device)
        sayable = self.saying(self.network.output, sources_BS)
        return State(sayable, tuple(layers), allowed_B11S, nowhere_BKX, 0)

    def step(self, state: State, last_BK: Tensor) -> Step:
        network, now = self.network, state.length
        batch, beam = last_BK.shape
        filled = state.path_BKX.shape[2]
        own_BKK = torch.eye(beam, dtype=torch.bool, device=last_BK.device).expand(batch, -1, -1)
        path_BKX = torch.cat([state.path_BKX[:, :beam], own_BKK], 2)
        states_BKD = network.target_positions(network.target_embedding(last_BK)[:, :, None], now).squeeze(2)
        seen_BKS: Tensor | None = None
        for place, (layer, cache) in enumerate(zip(network.decoder_layers, state.layers, strict=True)):
            keys_BHXD = cache.own_keys_BHXD[:, :, : filled + beam]
            values_BHXD = cache.own_values_BHXD[:, :, : filled + beam]
            asked_BKD = layer.self_road.before(states_BKD)
            keys_BHXD[:, :, filled:], values_BHXD[:, :, filled:] = layer.self_attention.remember(asked_BKD)
            change_BKD, _ = layer.self_attention(asked_BKD, keys_BHXD, values_BHXD, path_BKX[:, None])
            states_BKD = layer.self_road.after(states_BKD, change_BKD)
            source = cache.keys_BHSD, cache.values_BHSD
            states_BKD, weights_BHKS = layer.read_source(states_BKD, source, state.allowed_B11S, weighed=True)
            if place == network.watched.layer:
                seen_BKS = network.watched.of(cast(Tensor, weights_BHKS))
        return Step(
            log_probs_BKV=state.sayable.log_probs(network.decoder_norm(states_BKD)),
            ids_V=state.sayable.ids_V,
            attention_BKS=seen_BKS,
            state=state._replace(path_BKX=path_BKX, length=now + 1),
        )

    def select(self, state: State, sentences_B: Tensor, beams_BK: Tensor) -> State:
        """Keep some sentences; inside each, hypothesis k goes on from the path of the old beams_BK[:, k]."""
        path_BKX = state.path_BKX[sentences_B[:, None], beams_BK]
        kept, filled = len(sentences_B), path_BKX.shape[2]
        if kept == len(state.path_BKX):
            return state._replace(path_BKX=path_BKX)
        layers = []
        for own_keys_BHXD, own_values_BHXD, keys_BHSD, values_BHSD in state.layers:
            for memory_BHXD in (own_keys_BHXD, own_values_BHXD):
                memory_BHXD[:kept, :, :filled] = memory_BHXD[:, :, :filled].index_select(0, sentences_B)
            own = own_keys_BHXD[:kept], own_values_BHXD[:kept]
            source = keys_BHSD.index_select(0, sentences_B), values_BHSD.index_select(0, sentences_B)
            layers.append(LayerCache(*own, *source))
        allowed_B11S = None if state.allowed_B11S is None else state.allowed_B11S[sentences_B]
        return State(state.sayable.kept(sentences_B), tuple(layers), allowed_B11S, path_BKX, state.length)
