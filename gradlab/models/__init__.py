"""Whole models under the layouts that published weights have."""

from .bert import Bert as Bert
from .gpt import GPT as GPT
from .resnet import BasicBlock as BasicBlock
from .resnet import Bottleneck as Bottleneck
from .resnet import ResNet as ResNet
from .resnet import resnet18 as resnet18
from .resnet import resnet34 as resnet34
from .resnet import resnet50 as resnet50
