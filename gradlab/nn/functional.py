"""The functions behind the modules, under PyTorch's names: `import gradlab.nn.functional as F`."""

from ..ops import cross_entropy as cross_entropy
from ..ops import dropout as dropout
from ..ops import gelu as gelu
from ..ops import linear as linear
from ..ops import log_softmax as log_softmax
from ..ops import mse_loss as mse_loss
from ..ops import relu as relu
from ..ops import sigmoid as sigmoid
from ..ops import softmax as softmax
from ..ops import tanh as tanh
