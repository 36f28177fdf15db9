"""How does a recurrent network write the translation of what was read?

One decoder with four settings (ask, fuse, score, encoder) and input feeding holds Bahdanau et al. 2015, Luong et al.
2015 and what lies between them; without attention it is that of Sutskever et al. 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from dragoman.contracts import PieceTable
from dragoman.neural.attention import Attention
from dragoman.neural.cells import CELLS, Cell, State
from dragoman.neural.dropout import Dropout
from dragoman.neural.encoders import ENCODERS, Encoder
from dragoman.neural.network import Embedding, Network, OutputLayer, Sayable, Saying, everything
from dragoman.neural.recipes import AttentionOptions, RecurrentOptions
from dragoman.search.steps import Step


class Bridge(nn.Module):
    """The states that the decoder begins with: those of the encoder, layer by layer, where they fit; else
    H = tanh(W h + b) of its top layer (Bahdanau et al. 2015, section A.2.2), an LSTM's C = W c + b. An encoder that
    has no last state gives the mean of all for h and for c."""

    def __init__(self, options: RecurrentOptions, encoder: Encoder) -> None:
        super().__init__()
        as_deep = encoder.by_layer and options.encoder_layers == options.decoder_layers
        fits = as_deep and encoder.width == options.width
        parts = 0 if fits else options.decoder_layers * CELLS[options.cell].memories
        self.parts = nn.ModuleList(nn.Linear(encoder.width, options.width) for _ in range(parts))
        self.layers = options.decoder_layers

    def forward(self, last: Sequence[State]) -> list[State]:
        if not len(self.parts):
            return list(last)
        made = []
        for layer in range(self.layers):
            parts = self.parts[layer * len(last[-1]) : (layer + 1) * len(last[-1])]
            hidden_BH, *memory = (part(each) for part, each in zip(parts, last[-1], strict=True))
            made.append((hidden_BH.tanh(), *memory))
        return made


class Source(NamedTuple):
    """What may be looked at. keys, values: B x S x any; allowed_B1S: None = everywhere."""

    keys_BSD: Tensor
    values_BSD: Tensor
    allowed_B1S: Tensor | None


class Written(NamedTuple):
    """Where the K hypotheses of each sentence stand. layers: of each layer a state, B x K x H; fed_BKX: what of this
    step enters the next one."""

    layers: tuple[State, ...]
    fed_BKX: Tensor | None


class Recurrent(Network):
    """A decoder of recurrent cells, and one of ENCODERS, over piece ids.

    At step t the query is H_{t-1} (ask = before) or H_t (after). The context c_t enters the cell (fuse = inside), where
    a query after the step comes too late: c_{t-1} enters then, and c_0 = 0. Or it meets the state behind the cell
    (outside): h~_t = tanh(W_c [c_t; H_t]) predicts. With input feeding h~_{t-1}, whatever predicted, enters as well.
    """

    def __init__(self, options: RecurrentOptions, source: PieceTable, target: PieceTable, joint: bool) -> None:
        super().__init__()
        self.options = options
        self.source_table = source
        self.target_table = target
        self.target_embedding = Embedding(len(target), options.embedding)
        self.source_embedding = self.target_embedding if joint else Embedding(len(source), options.embedding)
        output = self.target_embedding if options.tied else Embedding(len(target), options.embedding)
        self.output = OutputLayer(output.weight)
        self.dropout = Dropout(options.dropout)
        self.encoder = ENCODERS[options.encoder](options)
        self.bridge = Bridge(options, self.encoder)
        inputs = [options.embedding] + [options.width] * (options.decoder_layers - 1)
        self.decoder = nn.ModuleList(CELLS[options.cell](size, options.width, options.layer_norm) for size in inputs)
        attends = options if isinstance(options, AttentionOptions) else None
        self.attention = Attention(attends.score, options.width, self.encoder.width) if attends else None
        self.before = attends is not None and attends.ask == "before"
        self.inside = attends is not None and attends.fuse == "inside"
        self.feeding = attends is not None and attends.input_feeding
        fed = self.encoder.width * self.inside + options.embedding * self.feeding
        self.feed = nn.Linear(fed, self.cells[0].input.out_features, bias=False) if fed else None
        outside = attends is not None and not self.inside
        self.mix = nn.Linear(options.width + self.encoder.width * outside, options.embedding)
        self.initialise()

    def initialise(self) -> None:
        """Glorot-uniform matrices, zero biases, embeddings N(0, 1/d); encoder and cells have begun as they want to."""
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear) and name.partition(".")[0] not in ("encoder", "decoder"):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding) or (isinstance(module, OutputLayer) and not self.options.tied):
                nn.init.normal_(module.weight, std=self.options.embedding**-0.5)

    @property
    def cells(self) -> Sequence[Cell]:
        return cast(Sequence[Cell], self.decoder)

    def facts(self) -> dict[str, object]:
        """Which way encoder and cells run: the latter step by step where the context enters them."""
        return {
            "encoder runs": self.encoder.path,
            "decoder learns": self.cells[0].path if self.feed is None else "step by step",
        }

    def embedded(self, table: nn.Embedding, pieces: Tensor) -> Tensor:
        """Features of pieces, of variance 1 at first, as the cells want them; as an output matrix they have 1/d."""
        features: Tensor = table(pieces)
        return features * math.sqrt(self.options.embedding)

    # --- reading --------------------------------------------------------------------------------

    def read(self, sources_BS: Tensor) -> tuple[Source | None, list[State]]:
        """What may be looked at, nothing without attention, and of each layer the state to write from."""
        present_BS = sources_BS != self.source_table.padding
        filled = None if present_BS.all() else present_BS
        states_BSE, last = self.encoder(self.dropout(self.embedded(self.source_embedding, sources_BS)), filled)
        begin = self.bridge(last)
        if self.attention is None:
            return None, begin
        keys_BSD, values_BSD = self.attention.remember(states_BSE)
        return Source(keys_BSD, values_BSD, None if filled is None else filled[:, None]), begin

    def sentence_vectors(self, sources_BS: Tensor) -> Tensor:
        """The last states of the encoder's top layer, both directions side by side, or the mean of all its states."""
        present_BS = sources_BS != self.source_table.padding
        _, last = self.encoder(self.dropout(self.embedded(self.source_embedding, sources_BS)), present_BS)
        return cast(Tensor, last[-1][0])

    def look(self, query_BTH: Tensor, source: Source | None) -> tuple[Tensor, Tensor]:
        """The contexts B x T x E of some queries, and their weights B x T x S."""
        assert self.attention is not None
        assert source is not None
        context_BTE, weights_BTS = self.attention(query_BTH, *source)
        return context_BTE, weights_BTS

    def predict(self, states_BTH: Tensor, contexts_BTE: Tensor | None) -> Tensor:
        """What predicts, B x T x D: tanh(W [H_t; c_t] + b) where the context was not in the cell, else W H_t + b."""
        if self.inside or contexts_BTE is None:
            return cast(Tensor, self.mix(states_BTH))
        mixed_BTD: Tensor = self.mix(torch.cat([states_BTH, contexts_BTE], -1))
        return mixed_BTD.tanh()

    # --- writing whole targets ------------------------------------------------------------------

    def hidden(self, sources_BS: Tensor, inputs_BT: Tensor) -> Tensor:
        return self.written(sources_BS, inputs_BT)[0]

    def hidden_and_weights(self, sources_BS: Tensor, inputs_BT: Tensor) -> tuple[Tensor, Tensor]:
        states_BTD, weights_BTS = self.written(sources_BS, inputs_BT)
        assert weights_BTS is not None  # there is attention
        return states_BTD, weights_BTS

    def written(self, sources_BS: Tensor, inputs_BT: Tensor) -> tuple[Tensor, Tensor | None]:
        """What predicts, and what was looked at (None without attention)."""
        source, begin = self.read(sources_BS)
        embedded_BTD = self.dropout(self.embedded(self.target_embedding, inputs_BT))
        write = self.at_once if self.feed is None else self.stepwise
        predicted_BTD, weights_BTS = write(embedded_BTD, source, begin)
        return self.dropout(predicted_BTD), weights_BTS

    def at_once(
        self, embedded_BTD: Tensor, source: Source | None, begin: Sequence[State]
    ) -> tuple[Tensor, Tensor | None]:
        """No context enters the cells: their states are known before anything is asked of the source."""
        states_BTH = embedded_BTD
        for place, (cell, state) in enumerate(zip(self.cells, begin, strict=True)):
            inputs_BTX = self.dropout(states_BTH) if place else states_BTH
            states_BTH, _ = cell.run(inputs_BTX, state)
            states_BTH = self.added(inputs_BTX, states_BTH) if place else states_BTH
        if self.attention is None:
            return self.predict(states_BTH, None), None
        asked_BTH = states_BTH
        if self.before:
            asked_BTH = torch.cat([begin[-1][0][:, None], states_BTH[:, :-1]], 1)
        contexts_BTE, weights_BTS = self.look(asked_BTH, source)
        return self.predict(states_BTH, contexts_BTE), weights_BTS

    def stepwise(
        self, embedded_BTD: Tensor, source: Source | None, begin: Sequence[State]
    ) -> tuple[Tensor, Tensor | None]:
        """Step by step; what the embeddings bring is taken out of the loop."""
        written, predicted, seen = self.begin(begin), list[Tensor](), list[Tensor]()
        for made_B1G in self.cells[0].input(embedded_BTD).split(1, 1):
            written, predicted_B1D, weights_B1S = self.advance(made_B1G, written, source)
            predicted.append(predicted_B1D)
            seen += [] if weights_B1S is None else [weights_B1S]
        return torch.cat(predicted, 1), torch.cat(seen, 1) if seen else None

    def added(self, inputs: Tensor, states: Tensor) -> Tensor:
        """The residual road around a layer, where it is wanted and both are equally wide."""
        return states + inputs if self.options.residual and inputs.shape == states.shape else states

    # --- one step -------------------------------------------------------------------------------

    def begin(self, states: Sequence[State]) -> Written:
        """One hypothesis a sentence that has said nothing; what it is fed is 0."""
        layers = tuple(tuple(each[:, None] for each in state) for state in states)
        size = self.encoder.width * (self.inside and not self.before) + self.options.embedding * self.feeding
        like_B1H = layers[0][0]
        return Written(layers, like_B1H.new_zeros(len(like_B1H), 1, size) if size else None)

    def advance(
        self, made_BKG: Tensor, written: Written, source: Source | None
    ) -> tuple[Written, Tensor, Tensor | None]:
        """One step of K hypotheses, made_BKG being the product of their last pieces. Returns where they stand then,
        what predicts the next piece, B x K x D, and what they looked at, B x K x S."""
        context: Tensor | None = None
        weights_BKS: Tensor | None = None
        if self.before:
            context, weights_BKS = self.look(written.layers[-1][0], source)
        fed = [each for each in (context if self.inside else None, written.fed_BKX) if each is not None]
        if self.feed is not None:
            made_BKG = made_BKG + self.feed(torch.cat(fed, -1))
        states_BKH = made_BKG
        layers = []
        for place, (cell, state) in enumerate(zip(self.cells, written.layers, strict=True)):
            inputs_BKX = self.dropout(states_BKH) if place else states_BKH
            state = cell.step(cell.products(inputs_BKX) if place else cell.input_norm(made_BKG), state)
            layers.append(state)
            states_BKH = self.added(inputs_BKX, state[0]) if place else state[0]
        if self.attention is not None and not self.before:
            context, weights_BKS = self.look(states_BKH, source)
        predicted_BKD = self.predict(states_BKH, context)
        kept = (context if self.inside and not self.before else None, predicted_BKD if self.feeding else None)
        parts = [each for each in kept if each is not None]
        return Written(tuple(layers), torch.cat(parts, -1) if parts else None), predicted_BKD, weights_BKS

    def scorer(self, saying: Saying = everything) -> RecurrentScorer:
        return RecurrentScorer(self, saying)


class Standing(NamedTuple):
    """What a search carries between steps."""

    source: Source | None
    written: Written
    sayable: Sayable


class RecurrentScorer:
    """The network as a search sees it (see StepScorer); what belongs to a source is kept once for its hypotheses."""

    def __init__(self, network: Recurrent, saying: Saying) -> None:
        self.network = network
        self.saying = saying
        self.pieces = network.target_table

    def start(self, sources_BS: Tensor, beam: int, capacity: int) -> Standing:
        source, begin = self.network.read(sources_BS)
        return Standing(source, self.network.begin(begin), self.saying(self.network.output, sources_BS))

    def step(self, state: Standing, last_BK: Tensor) -> Step:
        written = each_of(state.written, lambda part: part.expand(-1, last_BK.shape[1], -1))
        made_BKG = self.network.cells[0].input(self.network.embedded(self.network.target_embedding, last_BK))
        written, predicted_BKD, weights_BKS = self.network.advance(made_BKG, written, state.source)
        log_probs_BKV = state.sayable.log_probs(predicted_BKD)
        return Step(log_probs_BKV, state._replace(written=written), state.sayable.ids_V, weights_BKS)

    def select(self, state: Standing, sentences_B: Tensor, beams_BK: Tensor) -> Standing:
        written = each_of(state.written, lambda part: part[sentences_B[:, None], beams_BK])
        source = state.source
        if source is not None and len(sentences_B) != len(source.keys_BSD):
            keys_BSD, values_BSD, allowed_B1S = source
            kept = None if allowed_B1S is None else allowed_B1S[sentences_B]
            source = Source(keys_BSD[sentences_B], values_BSD[sentences_B], kept)
        return Standing(source, written, state.sayable.kept(sentences_B))


def each_of(written: Written, change: Callable[[Tensor], Tensor]) -> Written:
    """The same of every tensor."""
    layers = tuple(tuple(map(change, state)) for state in written.layers)
    return Written(layers, None if written.fed_BKX is None else change(written.fed_BKX))
