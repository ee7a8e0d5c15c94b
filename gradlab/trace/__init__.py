"""The tracer: what every op, gradient and optimizer step did, as numbers that keep no array alive."""

from __future__ import annotations

from .capture import Capture as Capture
from .condition import ConditionError as ConditionError
from .debugger import BreakpointError as BreakpointError
from .debugger import Debugger as Debugger
from .gate import Spot as Spot
from .ledger import Contribution as Contribution
from .numbers import Numbers as Numbers
from .probe import ProbeError as ProbeError
from .recorder import Recorder as Recorder
from .recording import current_recorder as current_recorder
from .recording import recording as recording
from .room import CAPTURE_BYTES as CAPTURE_BYTES
from .room import CaptureError as CaptureError
from .rules import check_batch as check_batch
from .rules import diagnose as diagnose
from .rules import overfit as overfit
from .stretch import Stretch as Stretch
from .summary import norm as norm
from .timeline import MISSING as MISSING
from .timeline import Spans as Spans
from .timeline import Timeline as Timeline
from .timeline import is_missing as is_missing
from .where import Places as Places
from .where import Where as Where
