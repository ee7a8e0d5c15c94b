"""The history as a picture."""

from __future__ import annotations

import sys

import pytest

from gradlab.errors import DataError, PackageError
from gradlab.train import History


@pytest.fixture
def history():
    return History(epoch=[1, 2, 3], loss=[0.9, 0.5, 0.4], val_loss=[1.0, 0.7, 0.6], lr=[0.1, 0.1, 0.1])


def test_training_and_validation_share_a_picture_and_a_notebook_shows_it(history):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    figure = history.plot()
    assert [axis.get_title() for axis in figure.axes] == ["loss", "lr"]
    assert [line.get_label() for line in figure.axes[0].lines] == ["training", "validation"]
    assert [line.get_ydata().tolist() for line in figure.axes[0].lines] == [history["loss"], history["val_loss"]]
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_it_is_drawn_into_axes_that_are_there(history):
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed").Figure()
    axes = figure.subplots(1, 2)
    assert history.plot(axes) is figure
    assert [axis.get_xlabel() for axis in axes] == ["epoch", "epoch"]


def test_without_matplotlib_the_error_says_how_to_get_it(history, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PackageError, match=r"plot: this needs matplotlib[\s\S]*pip install matplotlib"):
        history.plot()


def test_there_is_nothing_to_draw_before_an_epoch():
    with pytest.raises(DataError, match="there is nothing to draw yet"):
        History().plot()
