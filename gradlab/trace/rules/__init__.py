"""Rules: what is wrong with a training, said with numbers, a cause and a fix.

A rule is a function of `Evidence` in a file of its own, or of its family; importing it here adds it to `RULES`.
"""

from __future__ import annotations

from ..recorder import Recorder
from ..recording import current_recorder
from . import activation as activation
from . import broadcast as broadcast
from . import custom as custom
from . import decay as decay
from . import finite as finite
from . import gradient as gradient
from . import graph_leak as graph_leak
from . import inputs as inputs
from . import mode as mode
from . import rate as rate
from . import softmax as softmax
from . import start as start
from . import unit as unit
from . import unused as unused
from . import update as update
from . import validation as validation
from . import zero_grad as zero_grad
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import diagnosis_of as diagnosis_of
from .evidence import Evidence as Evidence
from .finding import Finding as Finding
from .finding import Number as Number
from .finding import Trend as Trend
from .mixing import check_batch as check_batch
from .overfit import overfit as overfit
from .rule import RULES as RULES
from .rule import Rule as Rule
from .rule import rule as rule


def diagnose(recorder: Recorder | None = None) -> list[Finding]:
    """What the rules say of a recorder, by default of the one attached now; the worst first, nothing where nobody traces.

    >>> import gradlab as gl
    >>> from gradlab.trace import recording
    >>> scores = gl.randn(8, 3, requires_grad=True)
    >>> with recording() as r:
    ...     loss = gl.nn.functional.cross_entropy(scores.softmax(1), gl.zeros(8, dtype=int))
    >>> for finding in diagnose(r):
    ...     print(finding.rule, finding.severity, finding.title)
    R9 error Softmax twice
    """
    recorder = recorder if recorder is not None else current_recorder()
    if recorder is None:
        return []
    diagnosis = diagnosis_of(recorder)
    diagnosis.update()
    return list(diagnosis.findings)
