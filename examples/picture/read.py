#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Find and read the text on a picture: read.py FOLDER PICTURE [DRAWN.svg], with the modules that compile.py wrote.

Three networks of RapidOCR, run by the command that TENON names (tenon): one tells for each pixel whether it is of a
line of text, one whether a line is upside down, one which characters are in slices of a line.
"""

import base64
import io
import json
import os
import subprocess
import sys
import time
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image

TEXT = 0.3  # how sure the first network is of a pixel of text
LINE = 0.5  # and on average of those of a line
GROWTH = 1.6  # the first network is trained on lines without their rims: area times this, by the circumference
UPSIDE_DOWN = 0.9
UNSURE = 0.5  # what is read with less on average is left out


class Network:
    """A module; a call runs it on pictures one after the other."""

    def __init__(self, path):
        self.path = path
        self.shape = json.loads(path.with_suffix(".json").read_text())["inputs"][0]["shape"]
        self.height, self.width = self.shape[2:]

    def __call__(self, pictures):
        frames = b"".join(self.input_of(picture).tobytes() for picture in pictures)
        command = [os.environ.get("TENON", "tenon"), "run", str(self.path), "--stream"]
        done = subprocess.run(command, input=frames, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"read.py: {done.stderr.decode(errors='replace').strip()}")
        return np.frombuffer(done.stdout, "float32").reshape(len(pictures), -1)

    def size_of(self, picture):
        """As large as fits into the input without a change of form; a line that is too long is pressed together."""
        factor = self.height / picture.height
        if self.height == self.width:
            factor = min(factor, self.width / picture.width)
        return min(round(picture.width * factor) or 1, self.width), round(picture.height * factor) or 1

    def input_of(self, picture):
        """Numbers from -1 to 1, blue, green, red; zeros right of the picture and below."""
        size = self.size_of(picture)
        numbers = np.asarray(picture.resize(size, Image.Resampling.BILINEAR), "float32")[..., ::-1] / 127.5 - 1
        array = np.zeros(self.shape[1:], "float32")
        array[:, : size[1], : size[0]] = numbers.transpose(2, 0, 1)
        return array


def components(mask):
    """Rows and columns of each set of neighbouring pixels."""
    left = {(int(row), int(column)) for row, column in zip(*np.nonzero(mask))}
    while left:
        edge = [left.pop()]
        found = []
        while edge:
            row, column = edge.pop()
            found.append((row, column))
            for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if near in left:
                    left.remove(near)
                    edge.append(near)
        yield tuple(np.array(found).T)


def find_lines(network, picture):
    """Boxes (left, top, right, bottom) of lines of text, from the top to the bottom."""
    sure = network([picture])[0].reshape(network.height, network.width)
    factor = picture.width / network.size_of(picture)[0]
    boxes = []
    for rows, columns in components(sure > TEXT):
        height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
        if min(height, width) < 4 or sure[rows, columns].mean() < LINE:
            continue
        rim = GROWTH * height * width / (2 * (height + width))
        box = columns.min() - rim, rows.min() - rim, columns.max() + 1 + rim, rows.max() + 1 + rim
        limits = (picture.width, picture.height) * 2
        boxes.append(tuple(round(min(max(x * factor, 0), limit)) for x, limit in zip(box, limits)))
    return sorted(boxes, key=lambda box: (box[1], box[0]))


def text_of(slices, characters):
    """What is read, and how sure of it: neighbouring slices of one character are one; number 0 is between two."""
    best = slices.argmax(axis=1)
    new = (best != 0) & (best != np.concatenate([[0], best[:-1]]))
    sure = slices.max(axis=1)[new]
    return "".join(characters[number] for number in best[new]), float(sure.mean()) if sure.size else 0.0


def read(folder, picture):
    """A list of box and text of each line."""
    finds, turns, reads = (Network(folder / f"{name}.so") for name in ("finds", "turns", "reads"))
    characters = ["", *(folder / "characters.txt").read_text(encoding="utf-8").split("\n")[:-1], " "]
    boxes = find_lines(finds, picture)
    lines = [picture.crop(box) for box in boxes]
    for place, (_, turned) in enumerate(turns(lines)):
        if turned > UPSIDE_DOWN:
            lines[place] = lines[place].rotate(180)
    found = []
    for box, slices in zip(boxes, reads(lines)):
        text, sure = text_of(slices.reshape(-1, len(characters)), characters)
        if sure >= UNSURE:
            found.append((box, text))
    return found


def draw(picture, found):
    """The picture, boxes and text as SVG."""
    png = io.BytesIO()
    picture.save(png, "PNG")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{picture.height}">',
        f'<image href="data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"/>',
    ]
    for (left, top, right, bottom), text in found:
        parts.append(
            f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" fill="none" stroke="red"/>'
            f'<text x="{left}" y="{top - 3}" fill="red" font-family="sans-serif">{escape(text)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.splitlines()[0])
    try:
        picture = Image.open(sys.argv[2]).convert("RGB")
    except OSError as error:
        sys.exit(f"read.py: {sys.argv[2]}: {error.strerror or 'no picture that Pillow reads'}")
    begin = time.monotonic()
    found = read(Path(sys.argv[1]), picture)
    for (left, top, right, bottom), text in found:
        print(f"{left:5} {top:5} {right:5} {bottom:5}  {text}")
    print(f"{len(found)} lines found and read in {time.monotonic() - begin:.2f} s", file=sys.stderr)
    if len(sys.argv) > 3:
        Path(sys.argv[3]).write_text(draw(picture, found), encoding="utf-8")


if __name__ == "__main__":
    main()
