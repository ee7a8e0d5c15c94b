"""The functions behind the modules, under PyTorch's names: `import gradlab.nn.functional as F`."""

from ..ops import binary_cross_entropy as binary_cross_entropy
from ..ops import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from ..ops import cross_entropy as cross_entropy
from ..ops import dropout as dropout
from ..ops import gelu as gelu
from ..ops import leaky_relu as leaky_relu
from ..ops import linear as linear
from ..ops import log_softmax as log_softmax
from ..ops import logsigmoid as logsigmoid
from ..ops import mse_loss as mse_loss
from ..ops import normalize as normalize
from ..ops import relu as relu
from ..ops import sigmoid as sigmoid
from ..ops import silu as silu
from ..ops import softmax as softmax
from ..ops import softplus as softplus
from ..ops import tanh as tanh
