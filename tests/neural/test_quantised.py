"""Are products in fewer bits what their formulas say, and is nothing else of a network touched?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import nn

from dragoman.contracts import Precision, UserError
from dragoman.neural.network import OutputLayer
from dragoman.neural.quantised import (
    BFloat16Product,
    Int8Product,
    at_precision,
    choose,
    integer_product,
    is_exact,
    seconds,
    usable,
)
from tests.neural.small import small_translator
from tests.neural.test_transformer import network

CPU = torch.device("cpu")
FEWER: list[Precision] = ["bf16", "int8"]


def drawn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def whole(rows: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """q and s of each row, by NumPy."""
    scales = np.abs(rows).max(1, keepdims=True) / np.float32(127)
    return np.rint(rows / scales).astype(np.int64), scales


@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 8, 8), (5, 13, 21), (40, 256, 100)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_int8_is_the_exact_integer_computation(rows: int, inputs: int, outputs: int, with_bias: bool) -> None:
    states, weight = drawn(rows, inputs), drawn(outputs, inputs, seed=2)
    bias = drawn(outputs, seed=3) if with_bias else None
    found = Int8Product.quantised(weight, bias)(states)
    q_states, s_states = whole(states.numpy())
    q_weight, s_weight = whole(weight.numpy())
    expected = (q_states @ q_weight.T).astype(np.float32) * s_states * s_weight[:, 0]
    if bias is not None:
        expected = expected + bias.numpy()
    assert found.dtype == torch.float32
    np.testing.assert_array_equal(found.numpy(), expected)


def test_int8_is_as_near_as_half_a_step_of_each_number_allows() -> None:
    states, weight = drawn(30, 64), drawn(50, 64, seed=2)
    found = Int8Product.quantised(weight)(states).double()
    states_step = states.abs().amax(1, keepdim=True).double() / 254
    weight_step = weight.abs().amax(1)[None].double() / 254
    bound = (
        weight_step * states.abs().sum(1, keepdim=True)
        + states_step * weight.abs().sum(1)
        + 64 * states_step * weight_step
    )
    assert ((found - states.double() @ weight.double().mT).abs() <= bound * 1.001).all()


def test_what_a_row_comes_to_does_not_depend_on_the_rows_beside_it() -> None:
    product = Int8Product.quantised(drawn(24, 32), drawn(24))
    states = drawn(50, 32, seed=4)
    states[7] *= 1e4  # one step for all rows together would flatten the others
    together = product(states)
    for size in (1, 3, 17):
        apart = torch.cat([product(part) for part in torch.split(states, size)])
        assert torch.equal(apart, together)
    assert torch.equal(product(states.view(5, 10, 32)), together.view(5, 10, 24))
    assert torch.equal(product(states.flip(0)).flip(0), together)


def test_a_row_of_zeros_gives_the_bias_and_nothing_hides_a_number_that_is_none() -> None:
    bias = drawn(9)
    product = Int8Product.quantised(drawn(9, 16), bias)
    states = torch.zeros(3, 16)
    states[1, 3] = float("nan")
    found = product(states)
    assert torch.equal(found[0], bias)
    assert torch.equal(found[2], bias)
    assert found[1].isnan().all()
    assert torch.equal(Int8Product.quantised(torch.zeros(9, 16), bias)(drawn(1, 16))[0], bias)


def test_bf16_is_torchs_own_product_as_fp32() -> None:
    states, weight, bias = drawn(4, 5, 32), drawn(24, 32, seed=2), drawn(24, seed=3)
    found = BFloat16Product(weight, bias)(states)
    exact = states.bfloat16().double() @ weight.bfloat16().double().mT + bias.bfloat16().double()
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), exact, rtol=2**-8, atol=1e-4)  # rounded once, to 8 bits
    assert torch.equal(found.bfloat16().float(), found)


def test_the_kernel_is_exact_at_any_number_of_rows() -> None:
    assert is_exact(CPU)
    weight = torch.randint(-127, 128, (16, 40), dtype=torch.int8)
    for count in (1, 2, 16, 17, 33):
        rows = torch.randint(-127, 128, (count, 40), dtype=torch.int8)
        assert integer_product(rows, weight).tolist() == (rows.long() @ weight.long().mT).tolist()


@pytest.mark.parametrize("precision", FEWER)
@pytest.mark.parametrize("tied", [True, False])
def test_every_matrix_is_replaced_and_nothing_else(precision: Precision, tied: bool) -> None:
    made = network(tied=tied)
    before = {name: tensor.clone() for name, tensor in made.state_dict().items()}
    changed = at_precision(made, precision)
    assert type(changed) is type(made)
    assert (made.precision, changed.precision) == ("fp32", precision)
    kinds = {name: type(module) for name, module in made.named_modules()}
    product = {"bf16": BFloat16Product, "int8": Int8Product}[precision]
    for name, module in changed.named_modules():
        assert (type(module) is product) == (kinds[name] in (nn.Linear, OutputLayer)), name
        assert type(module) is product or type(module) is kinds[name]
    old, new = dict(made.named_parameters()), dict(changed.named_parameters())
    assert new
    assert all(parameter is old[name] for name, parameter in new.items())
    assert all(torch.equal(tensor, before[name]) for name, tensor in made.state_dict().items())
    assert kinds == {name: type(module) for name, module in made.named_modules()}


@pytest.mark.parametrize(("precision", "near"), [("bf16", 0.1), ("int8", 0.2)])
def test_both_ways_of_predicting_stay_near_fp32_and_each_other(precision: Precision, near: float) -> None:
    made = network()
    changed = at_precision(made, precision)
    sources, inputs = torch.tensor([[4, 5, 3, 0], [6, 7, 4, 3]]), torch.tensor([[2, 6, 7, 5], [2, 4, 4, 6]])
    expected = made.output(made.hidden(sources, inputs)).log_softmax(-1)
    at_once = changed.output(changed.hidden(sources, inputs)).log_softmax(-1)
    assert 0 < (at_once - expected).abs().max() < near
    scorer = changed.scorer()
    state: Any = scorer.start(sources, 1, 4)
    for time in range(4):
        step = scorer.step(state, inputs[:, time : time + 1])
        torch.testing.assert_close(step.log_probs_BKV[:, 0], at_once[:, time], atol=near / 5, rtol=0)
        state = step.state


def test_fp32_is_the_network_itself_and_there_is_no_way_back() -> None:
    made = network()
    assert at_precision(made, "fp32") is made
    changed = at_precision(made, "int8")
    assert at_precision(changed, "int8") is changed
    with pytest.raises(ValueError, match="begin with the one in fp32"):
        at_precision(changed, "fp32")


@pytest.mark.parametrize(
    ("asked", "figures", "taken", "said"),
    [
        ("fp32", (9, 1, 1), "fp32", ""),
        ("bf16", (3, 2, 1), "bf16", ""),
        ("int8", (3, 1, 2), "int8", ""),
        ("int8", (1, 7, 20), "fp32", "int8 takes 20.0 times as long as fp32 on this processor: fp32 is used"),
        ("int8", (2, 1, 2), "bf16", "int8 takes 1.0 times as long as fp32 on this processor: bf16 is used"),
        ("bf16", (2, 3, 1), "fp32", "bf16 takes 1.5 times as long as fp32 on this processor: fp32 is used"),
        ("int8", (2, 1, float("inf")), "bf16", "int8 has no exact products on this processor: bf16 is used"),
    ],
)
def test_what_is_not_faster_is_not_taken(
    asked: Precision, figures: tuple[float, ...], taken: Precision, said: str
) -> None:
    names: list[Precision] = ["fp32", "bf16", "int8"]
    assert choose(asked, dict(zip(names, figures, strict=True))) == (taken, said)


def test_this_machine_is_measured_once() -> None:
    random = torch.get_rng_state()
    found = seconds(CPU)
    assert seconds(CPU) is found
    assert set(found) == {"fp32", "bf16", "int8"}
    assert 0 < found["fp32"] < 60
    assert torch.equal(torch.get_rng_state(), random)
    assert usable("int8", CPU) == choose("int8", found)
    assert usable("fp32", CPU) == ("fp32", "")


def test_a_translator_in_fewer_bits_describes_the_same_model_and_is_not_saved(tmp_path: Any) -> None:
    translator = small_translator()
    changed = translator.at_precision("int8")
    assert (translator.precision, changed.precision) == ("fp32", "int8")
    assert changed.describe() == translator.describe()
    counted = sum(parameter.numel() for parameter in translator.networks[0].parameters())
    assert translator.describe()["parameters"] == counted
    with pytest.raises(UserError, match="in fewer bits, is not saved"):
        changed.save(tmp_path)
    with pytest.raises(UserError, match="same precision"):
        changed.together([translator])
    assert list(tmp_path.iterdir()) == []
