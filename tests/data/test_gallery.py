"""A gallery shows the pixels it was given, and what is no picture is refused."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest

import gradlab as gl
from gradlab.data import gallery
from gradlab.data.gallery import Gallery


def shown(made: Gallery) -> list[np.ndarray]:
    """The pictures of the page, decoded by Pillow."""
    image = pytest.importorskip("PIL.Image")
    sources = re.findall(r'src="data:image/png;base64,([^"]+)"', made._repr_html_())
    return [np.asarray(image.open(io.BytesIO(base64.b64decode(source)))) for source in sources]


def test_bytes_come_out_as_they_went_in():
    images = np.random.default_rng(0).integers(0, 256, (2, 3, 5, 4), np.uint8)
    for given in (images, gl.tensor(images)):
        np.testing.assert_array_equal(shown(gallery(given)), images.transpose(0, 2, 3, 1))


def test_floats_go_from_black_to_white_and_are_cut_off_beyond():
    (picture,) = shown(gallery(gl.tensor([[[-1.0, 0.0, 0.5], [1.0, 2.0, 0.2]]])))
    assert picture[..., 0].tolist() == [[0, 0, 128], [255, 255, 51]]
    assert (picture == picture[..., :1]).all()


def test_signed_numbers_have_zero_in_the_middle_and_the_largest_at_an_end():
    (grey,) = shown(gallery(np.array([[[[-2.0, 0.0, 4.0]]]]), signed=True))
    assert grey[0, 1].tolist() == [255, 255, 255]
    assert grey[0, 2].tolist() == [178, 24, 43]
    assert grey[0, 0].tolist() == [144, 178, 214]
    (colours,) = shown(gallery(np.array([-1.0, 0.0, 1.0]).reshape(1, 3, 1, 1), signed=True))
    assert colours[0, 0].tolist() == [0, 128, 255]
    assert (shown(gallery(np.zeros((1, 2, 2)), signed=True))[0] == 255).all()


def test_captions_stand_below_as_text_with_their_line_breaks():
    page = gallery(np.zeros((2, 2, 2)), ["a <cat>\nnot a dog", 7], width_px=50)._repr_html_()
    assert "a &lt;cat&gt;<br>not a dog</figcaption>" in page
    assert ">7</figcaption>" in page
    assert "width:50px;height:50px" in page
    assert "<figcaption" not in gallery(np.zeros((2, 2, 2)))._repr_html_()


def test_what_is_no_picture_is_refused():
    with pytest.raises(gl.ShapeError, match=r"gallery: these are no pictures[\s\S]*\(2, 4, 4\)|1 or 3 channels"):
        gallery(np.zeros((5, 2, 4, 4)))
    with pytest.raises(gl.ShapeError, match="as many captions"):
        gallery(np.zeros((2, 4, 4)), ["one"])
