#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a small network of PyTorch in all its formats, an input, and what PyTorch makes of it.

usage: torch_network.py FOLDER
"""

import sys
import warnings
from pathlib import Path

import numpy
import torch
from torch import nn

warnings.filterwarnings("ignore")
folder = Path(sys.argv[1])


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.linear = nn.Linear(8 * 4 * 4, 10)

    def forward(self, picture, bias):
        features = torch.relu(self.norm(self.convolution(picture)))
        features = nn.functional.max_pool2d(features, 2)
        return torch.softmax(self.linear(features.flatten(1)) + bias, 1), features


torch.manual_seed(1)
network = Network()
network(torch.randn(4, 3, 8, 8), torch.zeros(10))  # gives the normalisation means other than 0
network = network.eval()
given = torch.randn(1, 3, 8, 8), torch.randn(10)

torch.export.save(torch.export.export(network, given), folder / "network.pt2")
extent = torch.export.Dim("n", min=1, max=8)
varied = torch.export.export(network, (torch.randn(2, 3, 8, 8), given[1]), dynamic_shapes=({0: extent}, None))
torch.export.save(varied, folder / "varied.pt2")
torch.jit.trace(network, given).save(folder / "script.pt")
torch.save(network.state_dict(), folder / "weights.pt")

with torch.no_grad():
    answers = network(*given)
for name, value in zip(("picture", "bias", "answer", "features"), (*given, *answers)):
    numpy.save(folder / f"{name}.npy", value.numpy())
