"""Layers, losses, and how models are put together of them."""

from . import functional as functional
from . import init as init
from . import utils as utils
from .activation import GELU as GELU
from .activation import LogSoftmax as LogSoftmax
from .activation import ReLU as ReLU
from .activation import Sigmoid as Sigmoid
from .activation import Softmax as Softmax
from .activation import Tanh as Tanh
from .cell import GRUCell as GRUCell
from .cell import LSTMCell as LSTMCell
from .cell import RNNCell as RNNCell
from .container import Flatten as Flatten
from .container import Identity as Identity
from .container import Sequential as Sequential
from .dropout import Dropout as Dropout
from .linear import Linear as Linear
from .loss import CrossEntropyLoss as CrossEntropyLoss
from .loss import MSELoss as MSELoss
from .module import Module as Module
from .parameter import Parameter as Parameter
from .recurrent import GRU as GRU
from .recurrent import LSTM as LSTM
from .recurrent import RNN as RNN
from .recurrent import RNNBase as RNNBase
